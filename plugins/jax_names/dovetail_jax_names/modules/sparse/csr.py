"""``jax.experimental.sparse.csr``."""

from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes(
    "jax.experimental.sparse.csr", facade="dovetail.experimental.sparse"
)
