"""Comparisons, logic and bits, rounding; elementwise."""

from __future__ import annotations

from dovetail_base import arguments
from dovetail_base.source import here, short_repr

from ..primitives.discrete import (
    RoundingMethod,
    and_p,
    ceil_p,
    clz_p,
    eq_p,
    floor_p,
    ge_p,
    gt_p,
    is_finite_p,
    le_p,
    lt_p,
    ne_p,
    not_p,
    or_p,
    population_count_p,
    reduce_precision_p,
    round_p,
    shift_left_p,
    shift_right_arithmetic_p,
    shift_right_logical_p,
    xor_p,
)
from .operands import Array, ArrayLike, binary, unary, unary_with


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


def floor(x: ArrayLike) -> Array:
    """The greatest integer that is not greater, as a floating-point number."""
    return unary(floor_p, x)


def ceil(x: ArrayLike) -> Array:
    """The least integer that is not less, as a floating-point number."""
    return unary(ceil_p, x)


def round(
    x: ArrayLike, rounding_method: RoundingMethod | int = RoundingMethod.AWAY_FROM_ZERO
) -> Array:
    """The nearest integer, as a floating-point number; ``rounding_method`` decides between two.

    Raises:
        ValueError: ``rounding_method`` is no ``RoundingMethod``.
    """
    try:
        method = RoundingMethod(rounding_method)
    except (TypeError, ValueError):
        raise ValueError(
            f"round: rounding_method={short_repr(rounding_method)} is not a valid RoundingMethod"
            f"{here()}"
        ) from None
    return unary_with(round_p, x, {"rounding_method": method})


def is_finite(x: ArrayLike) -> Array:
    """True where numbers are neither infinite nor NaN."""
    return unary(is_finite_p, x)


def reduce_precision(operand: ArrayLike, exponent_bits: int, mantissa_bits: int) -> Array:
    """Round to a format of fewer bits; the type stays what it is.

    Raises:
        ValueError: ``exponent_bits`` is less than 1, or ``mantissa_bits`` negative.
    """
    params = {
        "exponent_bits": arguments.integer("exponent_bits", exponent_bits),
        "mantissa_bits": arguments.integer("mantissa_bits", mantissa_bits),
    }
    return unary_with(reduce_precision_p, operand, params)


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
