"""Numerical methods behind primitives that the compiler has no operation for."""
