"""Comparisons, bits and rounding by NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail_backends import reference_rules
from dovetail_core import Primitive

from ...dtypes import iinfo, itemsize_bits, kind_of
from ...primitives import discrete as d
from ...primitives.discrete import RoundingMethod
from .kinds import Array, quiet, same_type, wide


def _comparison(primitive: Primitive, f: Callable[[Any, Any], Any]) -> None:
    reference_rules.set(primitive, quiet(lambda x, y: np.asarray(f(x, y), np.bool_)))


def total_order(x: Array) -> Array:
    """Integers in the total order of floating-point numbers; of other types, the values."""
    if kind_of(x.dtype) != "floating":
        return x
    raw = x.view(f"i{x.dtype.itemsize}").astype(np.int64)
    least = -(1 << (itemsize_bits(x.dtype) - 1))
    return np.where(raw < 0, least - raw - 1, raw)


_comparison(d.eq_p, np.equal)
_comparison(d.ne_p, np.not_equal)
_comparison(d.lt_p, np.less)
_comparison(d.le_p, np.less_equal)
_comparison(d.gt_p, np.greater)
_comparison(d.ge_p, np.greater_equal)
_comparison(d.eq_to_p, lambda x, y: total_order(x) == total_order(y))
_comparison(d.le_to_p, lambda x, y: total_order(x) <= total_order(y))
_comparison(d.lt_to_p, lambda x, y: total_order(x) < total_order(y))


def _width(x: Array) -> int:
    return iinfo(x.dtype).bits


def _unsigned(x: Array) -> Array:
    """The bits of integers as unsigned integers of 64 bits."""
    return x.astype(np.int64).astype(np.uint64) & np.uint64((1 << _width(x)) - 1)


def _shift_left(x: Array, y: Array) -> Array:
    amount = _unsigned(y)
    inside = amount < _width(x)
    return np.where(inside, _unsigned(x) << np.where(inside, amount, 0), 0)


def _shift_right_logical(x: Array, y: Array) -> Array:
    amount = _unsigned(y)
    inside = amount < _width(x)
    return np.where(inside, _unsigned(x) >> np.where(inside, amount, 0), 0)


def _shift_right_arithmetic(x: Array, y: Array) -> Array:
    width = _width(x)
    raw = _unsigned(x)
    negative = raw >> np.uint64(width - 1) != 0
    high = np.uint64((1 << 64) - (1 << width))
    value = np.where(negative, raw | high, raw).astype(np.int64)
    return value >> np.minimum(_unsigned(y), np.uint64(width - 1)).astype(np.int64)


def _bitwise(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` for narrow integers too, which NumPy's bit operations do not know."""

    def run(*args: Array) -> Array:
        return f(*[x if x.dtype.kind in "biu" else x.astype(np.int8) for x in args])

    return run


same_type(d.not_p, _bitwise(np.invert))
same_type(d.and_p, _bitwise(np.bitwise_and))
same_type(d.or_p, _bitwise(np.bitwise_or))
same_type(d.xor_p, _bitwise(np.bitwise_xor))
same_type(d.shift_left_p, _shift_left)
same_type(d.shift_right_logical_p, _shift_right_logical)
same_type(d.shift_right_arithmetic_p, _shift_right_arithmetic)
same_type(d.population_count_p, lambda x: np.bitwise_count(_unsigned(x)))


def _clz(x: Array) -> Array:
    lengths = [int(v).bit_length() for v in _unsigned(x).reshape(-1)]
    return (_width(x) - np.array(lengths, np.int64)).reshape(x.shape)


same_type(d.clz_p, _clz)


def _round(x: Array, *, rounding_method: RoundingMethod) -> Array:
    y = x.astype(np.float64)
    if rounding_method == RoundingMethod.TO_NEAREST_EVEN:
        return np.rint(y)
    truncated = np.trunc(y)
    return np.where(
        np.abs(y - truncated) >= 0.5, truncated + np.copysign(1.0, y), np.copysign(truncated, y)
    )


wide(d.floor_p, np.floor)
wide(d.ceil_p, np.ceil)
same_type(d.round_p, _round)
reference_rules.set(d.is_finite_p, lambda x: np.asarray(np.isfinite(x), np.bool_))


@reference_rules.register(d.reduce_precision_p)
@quiet
def _reduce_precision(x: Array, *, exponent_bits: int, mantissa_bits: int) -> Array:
    y = x.astype(np.float64)
    # y = m 2^e with 1/2 <= |m| < 1; rounding m to even at one bit more than the mantissa has.
    m, e = np.frexp(y)
    rounded = np.ldexp(np.rint(np.ldexp(m, mantissa_bits + 1)), e - mantissa_bits - 1)
    rounded = np.where(np.isfinite(y), rounded, y)
    bias = (1 << (exponent_bits - 1)) - 1
    greatest = np.ldexp(2.0 - np.ldexp(1.0, -mantissa_bits), bias)
    out = np.where(np.abs(rounded) > greatest, np.copysign(np.inf, y), rounded)
    # Numbers below the least normal one become zero; there are no subnormal ones.
    out = np.where(np.abs(rounded) < np.ldexp(1.0, 1 - bias), np.copysign(0.0, y), out)
    return np.where(np.isfinite(y), out, y).astype(x.dtype)
