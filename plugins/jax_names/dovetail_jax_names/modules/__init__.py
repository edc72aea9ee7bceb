"""What answers for JAX's modules where the facade has none: a module for each."""
