"""``jax.lib``, which is empty since JAX 0.10."""

from ..lookup import attributes as _attributes

__getattr__, __dir__ = _attributes("jax.lib")
