"""``jax.experimental.sparse.bcoo``."""

from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes(
    "jax.experimental.sparse.bcoo", facade="dovetail.experimental.sparse"
)
