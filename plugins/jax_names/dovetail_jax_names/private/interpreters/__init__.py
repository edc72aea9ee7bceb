"""``jax._src.interpreters``: flax uses the module ``pxla`` of it."""

from ...names import modules_of

__getattr__ = modules_of("jax._src.interpreters")
