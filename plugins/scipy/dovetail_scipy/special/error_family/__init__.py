"""Error functions and the normal distribution function."""
