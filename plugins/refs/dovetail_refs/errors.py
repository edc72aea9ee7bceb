"""Errors of the classes that NumPy's users expect, and of the one that JAX raises."""

from __future__ import annotations


class RefTypeError(TypeError, ValueError):
    """A value that is no reference, or of another type than the one that it is written to; JAX's is
    a ValueError."""


class RefIndexError(IndexError, ValueError):
    """An index out of the range of a reference; JAX's is a ValueError."""
