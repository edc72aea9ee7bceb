"""The modules below ``jax.experimental.sparse``: names of its own, by where JAX defines them."""
