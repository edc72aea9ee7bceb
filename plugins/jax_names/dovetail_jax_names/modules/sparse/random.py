"""``jax.experimental.sparse.random``."""

from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes(
    "jax.experimental.sparse.random", facade="dovetail.experimental.sparse"
)
