"""Logic and bits, elementwise."""

from __future__ import annotations

from ..primitives.discrete import (
    and_p,
    clz_p,
    not_p,
    or_p,
    population_count_p,
    shift_left_p,
    shift_right_arithmetic_p,
    shift_right_logical_p,
    xor_p,
)
from ._args import Array, ArrayLike, binary, unary


def bitwise_not(x: ArrayLike) -> Array:
    """Every bit of integers inverted; for booleans, the logical negation."""
    return unary(not_p, x)


def bitwise_and(x: ArrayLike, y: ArrayLike) -> Array:
    """Bits set in both integers; for booleans, logical and."""
    return binary(and_p, x, y)


def bitwise_or(x: ArrayLike, y: ArrayLike) -> Array:
    """Bits set in either integer; for booleans, logical or."""
    return binary(or_p, x, y)


def bitwise_xor(x: ArrayLike, y: ArrayLike) -> Array:
    """Bits set in one integer only; for booleans, whether they differ."""
    return binary(xor_p, x, y)


def shift_left(x: ArrayLike, y: ArrayLike) -> Array:
    """``x << y``; zero where ``y`` is negative or not less than the width."""
    return binary(shift_left_p, x, y)


def shift_right_arithmetic(x: ArrayLike, y: ArrayLike) -> Array:
    """``x >> y``, keeping the sign."""
    return binary(shift_right_arithmetic_p, x, y)


def shift_right_logical(x: ArrayLike, y: ArrayLike) -> Array:
    """``x >> y`` of the bits, filling with zeros."""
    return binary(shift_right_logical_p, x, y)


def population_count(x: ArrayLike) -> Array:
    """The number of bits that are set."""
    return unary(population_count_p, x)


def clz(x: ArrayLike) -> Array:
    """The number of zero bits before the first that is set."""
    return unary(clz_p, x)
