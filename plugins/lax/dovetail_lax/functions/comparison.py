"""Comparisons, elementwise; results are booleans."""

from __future__ import annotations

from ..primitives.discrete import eq_p, ge_p, gt_p, le_p, lt_p, ne_p
from ._args import Array, ArrayLike, binary


def eq(x: ArrayLike, y: ArrayLike) -> Array:
    """``x == y``, elementwise; NaN equals nothing."""
    return binary(eq_p, x, y)


def ne(x: ArrayLike, y: ArrayLike) -> Array:
    """``x != y``, elementwise."""
    return binary(ne_p, x, y)


def lt(x: ArrayLike, y: ArrayLike) -> Array:
    """``x < y``, elementwise; not for complex numbers."""
    return binary(lt_p, x, y)


def le(x: ArrayLike, y: ArrayLike) -> Array:
    """``x <= y``, elementwise; not for complex numbers."""
    return binary(le_p, x, y)


def gt(x: ArrayLike, y: ArrayLike) -> Array:
    """``x > y``, elementwise; not for complex numbers."""
    return binary(gt_p, x, y)


def ge(x: ArrayLike, y: ArrayLike) -> Array:
    """``x >= y``, elementwise; not for complex numbers."""
    return binary(ge_p, x, y)
