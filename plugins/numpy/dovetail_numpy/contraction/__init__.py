"""Products that contract axes: matmul, dot, einsum and their relatives."""
