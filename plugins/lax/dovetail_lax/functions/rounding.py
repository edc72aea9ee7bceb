"""Rounding of floating-point numbers, elementwise."""

from __future__ import annotations

from ..primitives.discrete import (
    RoundingMethod,
    ceil_p,
    floor_p,
    is_finite_p,
    reduce_precision_p,
    round_p,
)
from ._args import Array, ArrayLike, unary, unary_with


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
    return unary_with(round_p, x, {"rounding_method": RoundingMethod(rounding_method)})


def is_finite(x: ArrayLike) -> Array:
    """Whether numbers are neither infinite nor NaN."""
    return unary(is_finite_p, x)


def reduce_precision(operand: ArrayLike, exponent_bits: int, mantissa_bits: int) -> Array:
    """Round to a format of fewer bits; the type stays what it is.

    Raises:
        ValueError: ``exponent_bits`` is less than 1, or ``mantissa_bits`` negative.
    """
    params = {"exponent_bits": int(exponent_bits), "mantissa_bits": int(mantissa_bits)}
    return unary_with(reduce_precision_p, operand, params)
