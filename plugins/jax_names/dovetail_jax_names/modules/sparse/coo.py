"""``jax.experimental.sparse.coo``."""

from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes(
    "jax.experimental.sparse.coo", facade="dovetail.experimental.sparse"
)
