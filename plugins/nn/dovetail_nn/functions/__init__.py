"""Functions on arrays, by family."""
