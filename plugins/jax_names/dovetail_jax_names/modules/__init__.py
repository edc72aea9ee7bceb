"""Modules that answer for JAX's where the facade has none."""
