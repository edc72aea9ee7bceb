"""Extension points by JAX's conventions: primitives, rule registries, tracing by hand."""
