"""Errors about arguments that callers catch as one class or the other."""

from __future__ import annotations


class ShapeError(TypeError, ValueError):
    """Shapes, axes or lengths that do not fit: a TypeError to callers of some operations, a
    ValueError to those of others and of NumPy's."""


class OutOfBounds(ShapeError, IndexError):
    """An axis that an array does not have."""


class ElementTypeError(TypeError, ValueError, NotImplementedError):
    """An element type for which there is no kernel, though its numbers are of the right kind."""


class DtypeError(TypeError, ValueError):
    """Element types that an operation does not take, or not together: a TypeError to callers of
    most operations, a ValueError to those of a few."""
