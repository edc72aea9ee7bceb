"""Numerical functions of whole arrays: interpolation, polynomials, convolution, statistics."""
