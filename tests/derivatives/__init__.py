"""Derivatives of first and second order against mpmath, over whole ranges of numbers."""
