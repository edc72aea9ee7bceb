"""``jax.experimental.sparse.ad``."""

from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes(
    "jax.experimental.sparse.ad", facade="dovetail.experimental.sparse"
)
