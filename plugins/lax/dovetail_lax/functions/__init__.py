"""The public functions on arrays, by family."""
