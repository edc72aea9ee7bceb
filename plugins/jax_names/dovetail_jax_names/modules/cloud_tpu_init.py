"""``jax.cloud_tpu_init``, which has no public names."""
