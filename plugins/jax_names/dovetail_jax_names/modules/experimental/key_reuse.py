"""``jax.experimental.key_reuse``, which has no public names: see the option ``debug_key_reuse``."""
