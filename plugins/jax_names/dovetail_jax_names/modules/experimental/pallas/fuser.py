"""``jax.experimental.pallas.fuser``, as ``jax.experimental.pallas``."""

from ....lookup import attributes as _attributes

__getattr__, __dir__ = _attributes("jax.experimental.pallas.fuser")
