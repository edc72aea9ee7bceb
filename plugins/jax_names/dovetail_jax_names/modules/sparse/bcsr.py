"""``jax.experimental.sparse.bcsr``."""

from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes(
    "jax.experimental.sparse.bcsr", facade="dovetail.experimental.sparse"
)
