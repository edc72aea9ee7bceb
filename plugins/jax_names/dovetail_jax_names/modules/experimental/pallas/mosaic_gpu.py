"""``jax.experimental.pallas.mosaic_gpu``, as ``jax.experimental.pallas``."""

from ....lookup import attributes as _attributes

__getattr__, __dir__ = _attributes("jax.experimental.pallas.mosaic_gpu")
