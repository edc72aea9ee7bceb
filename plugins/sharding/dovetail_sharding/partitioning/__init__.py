"""Functions with partitioning rules of their own."""
