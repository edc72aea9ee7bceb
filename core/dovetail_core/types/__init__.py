"""Types of values: abstract values, effects, the algebra of arrays, high types."""
