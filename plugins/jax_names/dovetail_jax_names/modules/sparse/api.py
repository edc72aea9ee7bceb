"""``jax.experimental.sparse.api``."""

from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes(
    "jax.experimental.sparse.api", facade="dovetail.experimental.sparse"
)
