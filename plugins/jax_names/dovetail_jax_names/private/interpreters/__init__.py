"""``jax._src.interpreters``: flax uses the module ``pxla`` of it."""
