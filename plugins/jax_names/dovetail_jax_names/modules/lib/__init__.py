"""``jax.lib``: an empty package, as in JAX, where libraries look for what older versions had."""
