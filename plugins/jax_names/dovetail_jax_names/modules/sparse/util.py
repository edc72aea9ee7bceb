"""``jax.experimental.sparse.util``."""

from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes(
    "jax.experimental.sparse.util", facade="dovetail.experimental.sparse"
)
