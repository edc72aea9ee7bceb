"""``jax._src.state``: flax uses the module ``types`` of it."""
