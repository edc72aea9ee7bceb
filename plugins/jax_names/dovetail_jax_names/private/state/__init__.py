"""``jax._src.state``: flax uses the module ``types`` of it."""

from ...names import modules_of

__getattr__ = modules_of("jax._src.state")
