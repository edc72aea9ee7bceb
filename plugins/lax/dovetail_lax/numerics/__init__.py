"""Numerical methods of primitives for which the compiler has no operation."""
