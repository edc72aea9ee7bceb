"""The names of JAX, answered by Dovetail: ``import jax`` in programs that were written for it."""
