"""``jax.experimental.sparse.transform``."""

from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes(
    "jax.experimental.sparse.transform", facade="dovetail.experimental.sparse"
)
