"""Arithmetic by NumPy, with XLA's conventions where NumPy has others or none."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import reference_rules

from ...dtypes import iinfo, kind_of
from ...primitives.arithmetic import (
    abs_p,
    add_p,
    cbrt_p,
    div_p,
    integer_pow_p,
    max_p,
    min_p,
    mul_p,
    mulhi_p,
    neg_p,
    nextafter_p,
    pow_p,
    rem_p,
    rsqrt_p,
    sign_p,
    sqrt_p,
    square_p,
    sub_p,
)
from ...primitives.values import real_part
from .kinds import Array, quiet, rounded, same_type, wide, widened

same_type(add_p, np.add)
same_type(sub_p, np.subtract)
same_type(neg_p, np.negative)
same_type(square_p, lambda x: x * x)
same_type(nextafter_p, np.nextafter)
wide(sqrt_p, np.sqrt)
wide(rsqrt_p, lambda x: 1 / np.sqrt(x))
wide(cbrt_p, np.cbrt)


@reference_rules.register(mul_p)
@quiet
def _mul(x: Array, y: Array, *, out_dtype: Any = None) -> Array:
    if out_dtype is not None:
        x, y = x.astype(out_dtype), y.astype(out_dtype)
    return np.multiply(x, y).astype(x.dtype, copy=False)


def _is_integer(x: Array) -> bool:
    return kind_of(x.dtype) in ("signed", "unsigned")


@reference_rules.register(div_p)
@quiet
def _div(x: Array, y: Array) -> Array:
    if not _is_integer(x):
        return np.divide(x, y).astype(x.dtype, copy=False)
    quotient, _ = _divmod(x, y)
    return quotient


@reference_rules.register(rem_p)
@quiet
def _rem(x: Array, y: Array) -> Array:
    if not _is_integer(x):
        return np.fmod(x, y).astype(x.dtype, copy=False)
    _, remainder = _divmod(x, y)
    return remainder


def _divmod(x: Array, y: Array) -> tuple[Array, Array]:
    """Truncated division of integers; by zero the quotient has all bits set, the rest is ``x``."""
    x, y = np.broadcast_arrays(x, y)
    dtype, by_zero = x.dtype, y == 0
    remainder = np.fmod(x, np.where(by_zero, np.ones_like(y), y))
    minus_one = (y == -1) if kind_of(dtype) == "signed" else np.zeros(y.shape, bool)
    safe = np.where(by_zero | minus_one, np.ones_like(y), y)
    quotient = (x - np.fmod(x, safe)) // safe
    quotient = np.where(minus_one, np.negative(x), quotient)  # wraps for the least integer
    quotient = np.where(by_zero, np.array(-1).astype(dtype), quotient)
    remainder = np.where(minus_one, np.zeros_like(x), remainder)
    return quotient.astype(dtype), np.where(by_zero, x, remainder).astype(dtype)


@reference_rules.register(abs_p)
def _abs(x: Array) -> Array:
    return np.abs(x).astype(real_part(x.dtype), copy=False)


@reference_rules.register(sign_p)
@quiet
def _sign(x: Array) -> Array:
    return np.where(x == 0, x, np.sign(x)).astype(x.dtype, copy=False)  # zeros keep their signs


def _lexicographic(x: Array, y: Array) -> Array:
    """True where ``x`` is greater: by real parts, and where they are equal by imaginary ones."""
    return np.where(x.real == y.real, x.imag > y.imag, x.real > y.real)


@reference_rules.register(max_p)
@quiet
def _max(x: Array, y: Array) -> Array:
    if kind_of(x.dtype) == "complex":
        return np.where(_lexicographic(x, y), x, y)
    return np.maximum(x, y).astype(x.dtype, copy=False)


@reference_rules.register(min_p)
@quiet
def _min(x: Array, y: Array) -> Array:
    if kind_of(x.dtype) == "complex":
        return np.where(_lexicographic(y, x), x, y)
    return np.minimum(x, y).astype(x.dtype, copy=False)


@reference_rules.register(pow_p)
@quiet
def _pow(x: Array, y: Array) -> Array:
    return rounded(np.power(widened(x), widened(y)), x.dtype)


@reference_rules.register(integer_pow_p)
@quiet
def _integer_pow(x: Array, *, y: int) -> Array:
    if _is_integer(x):
        out, square, n = np.ones_like(x), x, y
        while n:
            out = out * square if n & 1 else out
            square, n = square * square, n >> 1
        return out.astype(x.dtype)
    return rounded(np.power(widened(x), float(y)), x.dtype)


@reference_rules.register(mulhi_p)
def _mulhi(x: Array, y: Array) -> Array:
    bits = iinfo(x.dtype).bits
    product = x.astype(object) * y.astype(object)
    return np.asarray(product >> bits).astype(x.dtype)
