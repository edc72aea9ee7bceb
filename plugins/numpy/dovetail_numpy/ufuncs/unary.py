"""Elementwise functions of one operand that keep its element type: signs, rounding, parts."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.wrapping import alias
from dovetail_lax import dtypes

from ..creation.arrays import as_array
from ..fusion import fused, of_one_array, one_call
from ..operands import ArrayLike
from ..operations import number, select, strong
from ..promotion import default_float
from .plans import (
    BITS,
    FLOATS,
    INEXACT,
    INTEGERS,
    NUMBERS,
    REALS,
    Unary,
    always,
    by_kind,
    for_kinds,
    identity,
    unary_function,
)

F = Callable[[Any], Any]
ABS = Unary("abs", by_kind(bool=identity, unsigned=identity, **for_kinds(
    ("signed", "floating", "complex"), lax.abs_p)))  # fmt: skip
NEGATIVE = Unary("negative", always(lax.neg_p, NUMBERS))
POSITIVE = Unary("positive", always(identity))
INVERT = Unary("invert", always(lax.not_p, BITS))


def _keep(name: str, op: Any, doc: str, kinds: tuple[str, ...] = FLOATS) -> F:
    """A function that leaves booleans and integers as they are."""
    integral = dict.fromkeys(("bool", *INTEGERS), identity)
    return unary_function(Unary(name, by_kind(**integral, **for_kinds(kinds, op))), doc)


def _trunc(x: Any) -> Any:
    zero = number(x, 0)
    return lax.select_n_p.bind(lax.lt_p.bind(x, zero), lax.floor_p.bind(x), lax.ceil_p.bind(x))


def _round_even(x: Any) -> Any:
    return lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)


def round_complex(x: Any) -> Any:
    """Both parts rounded to the nearest even integer."""
    return lax.complex_p.bind(_round_even(lax.real_p.bind(x)), _round_even(lax.imag_p.bind(x)))


abs: F = unary_function(ABS, "Absolute value of each element; real for complex numbers.")
absolute: F = of_one_array()(alias(abs, "absolute"))
positive: F = unary_function(POSITIVE, "``+x``: the array itself.")
invert: F = unary_function(INVERT, "Bitwise not of integers, logical not of booleans.")
bitwise_not: F = of_one_array()(alias(invert, "bitwise_not"))
bitwise_invert: F = of_one_array()(alias(invert, "bitwise_invert"))
sign: F = unary_function(
    Unary("sign", always(lax.sign_p, NUMBERS)),
    "-1, 0 or 1 for each element; ``x / abs(x)`` for complex numbers.",
)
floor: F = _keep("floor", lax.floor_p, "The greatest integer not above each element.")
ceil: F = _keep("ceil", lax.ceil_p, "The least integer not below each element.")
_TRUNC = Unary("trunc", by_kind(**dict.fromkeys(("bool", *INTEGERS), identity),
                                floating=fused()(_trunc)))  # fmt: skip


@of_one_array()
def trunc(x: ArrayLike) -> Any:
    """Each element without its fractional part; booleans and integers as they are."""
    return _TRUNC(x)


_RINT = Unary("rint", by_kind(floating=_round_even, complex=fused()(round_complex)))


@one_call()
def rint(x: ArrayLike, /) -> Any:
    """Each element rounded to the nearest integer, halves to even, as a floating-point number."""
    return _RINT(_as_float("rint", x))


def _as_float(name: str, x: ArrayLike) -> Any:
    """``x``, integers and booleans as the default floating-point type."""
    x = as_array(name, x)
    integral = dtypes.kind_of(x.dtype) in ("bool", "signed", "unsigned")
    return lax.convert_element_type(x, default_float()) if integral else x


conjugate: F = unary_function(
    Unary("conjugate", by_kind(complex=lax.conj, **for_kinds(REALS, identity))),
    "Complex conjugate of each element; real arrays are returned as they are.",
)
conj: F = of_one_array()(alias(conjugate, "conj"))
real: F = unary_function(
    Unary("real", by_kind(complex=lax.real_p, **for_kinds(REALS, identity))),
    "Real part of each element.",
)
_zeros_of = fused()(lambda x: lax.full_like(x, 0))
imag: F = unary_function(
    Unary("imag", by_kind(complex=lax.imag_p, **for_kinds(REALS, _zeros_of))),
    "Imaginary part of each element; zeros for real arrays.",
)


def _square_bool(x: Any) -> Any:
    return lax.convert_element_type(x, np.int32)


square: F = unary_function(
    Unary("square", by_kind(bool=_square_bool, **for_kinds(NUMBERS, lax.square_p))),
    "``x * x`` of each element.",
)
fabs: F = unary_function(
    Unary("fabs", always(lax.abs_p, FLOATS), inexact=True),
    "Absolute value of each element, as a floating-point number.",
)


@fused()
def _count_bits(x: Any) -> Any:
    if x.dtype.kind == "b":
        return lax.convert_element_type(x, np.uint8)
    x = lax.abs(x) if dtypes.kind_of(x.dtype) == "signed" else x
    return lax.convert_element_type(lax.population_count(x), np.uint8)


bitwise_count: F = unary_function(
    Unary("bitwise_count", always(_count_bits, BITS)),
    "The number of one bits in the absolute value of each integer, as uint8.",
)


@fused(static=("deg",))
def _angle(z: Any, deg: bool) -> Any:
    re, im = (lax.real(z), lax.imag(z)) if z.dtype.kind == "c" else (z, lax.full_like(z, 0))
    angle = lax.atan2(im, re)
    return lax.mul(angle, number(angle, 180 / np.pi)) if deg else angle


@one_call("deg")
def angle(z: ArrayLike, deg: bool = False) -> Any:
    """The angle of each complex number in the plane, in radians, or degrees with ``deg``."""
    z = _as_float("angle", z)
    return _angle(z if z.dtype.kind == "c" else strong(z), deg=deg)


@fused()
def _signbit(x: Any) -> Any:
    if dtypes.kind_of(x.dtype) in ("bool", "unsigned"):
        return lax.full_like(x, False, dtype=np.bool_)
    if dtypes.kind_of(x.dtype) == "signed":
        return strong(lax.lt(x, number(x, 0)))
    bits = np.dtype(f"int{x.dtype.itemsize * 8}")
    return lax.lt(lax.bitcast_convert_type(x, bits), bits.type(0))


signbit: F = unary_function(
    Unary("signbit", always(_signbit, REALS)), "True where the sign bit of an element is set."
)


_SINC_TERMS = [(-1) ** k * np.pi ** (2 * k) / factorial(2 * k + 1) for k in range(12)]


@fused()
def _sinc(x: Any) -> Any:
    # Up to 1/2 by the power series in x², with as many terms as double precision needs: derivatives
    # of the quotient suffer from cancellation.
    size = lax.abs(x)
    near = lax.lt(size, number(size, 0.5))
    small, far = select(near, x, number(x, 0)), select(near, number(x, 1), x)
    square, series = lax.mul(small, small), number(x, _SINC_TERMS[-1])
    for term in reversed(_SINC_TERMS[:-1]):
        series = lax.add(lax.mul(series, square), number(x, term))
    quotient = lax.div(_sine_of_turns(far), lax.mul(number(x, float(np.pi)), far))
    return select(near, series, quotient)


def _sine_of_turns(x: Any) -> Any:
    """``sin(πx)``, computed from the difference of ``x`` and the nearest integer."""
    if x.dtype.kind == "c":
        return lax.sin(lax.mul(number(x, float(np.pi)), x))
    nearest = _round_even(x)
    pairs = _round_even(lax.mul(nearest, number(x, 0.5)))
    odd = lax.ne(lax.add(pairs, pairs), nearest)
    sine = lax.sin(lax.mul(lax.sub(x, nearest), number(x, float(np.pi))))
    return select(odd, lax.neg(sine), sine)


sinc: F = unary_function(
    Unary("sinc", always(_sinc, INEXACT), inexact=True),
    "``sin(πx) / (πx)`` of each element, 1 at 0; differentiable there.",
)


def _i0(x: Any) -> Any:
    from .differentiated import i0

    return i0(x)


_I0 = Unary("i0", always(fused()(_i0), FLOATS), inexact=True)


@of_one_array()
def i0(x: ArrayLike) -> Any:
    """Modified Bessel function of the first kind and order 0, of real numbers."""
    return _I0(x)


def _spacing(x: Any) -> Any:
    if x.dtype == np.float16:  # as NumPy: the distance to the next greater number
        step = lax.sub(lax.nextafter(x, lax.full_like(x, np.inf)), x)
        return select(lax.is_finite(x), step, lax.full_like(x, np.nan))
    # The power of two of the last digit, from the exponent's bits: the difference of neighbours
    # would be flushed to zero among the least numbers.
    info = dtypes.finfo(x.dtype)
    digits = info.nmant
    integral = np.dtype(f"int{info.bits}")
    pattern = lax.bitcast_convert_type(x, integral)
    size = lax.bitwise_and(pattern, lax.full_like(pattern, np.iinfo(integral).max))
    exponent = lax.shift_right_logical(size, lax.full_like(size, digits))
    # 2**(exponent - digits) is a normal number, or one bit of a subnormal one.
    normal = lax.shift_left(lax.sub(exponent, integral.type(digits)), lax.full_like(size, digits))
    shift = lax.clamp(integral.type(0), lax.sub(exponent, integral.type(1)), integral.type(digits))
    tiny = lax.shift_left(lax.full_like(pattern, 1), shift)
    step = select(lax.gt(exponent, number(exponent, digits)), normal, tiny)
    signed = lax.bitwise_or(step, lax.sub(pattern, size))
    step = lax.bitcast_convert_type(signed, x.dtype)
    infinite = lax.ge(lax.abs(x), number(x, float(info.max)))
    step = select(infinite, lax.mul(lax.sign(x), number(x, float("inf"))), step)
    return select(lax.is_finite(x), step, lax.full_like(x, np.nan))


spacing: F = unary_function(
    Unary("spacing", always(fused()(_spacing), FLOATS), inexact=True),
    "The distance from each element to the next number away from zero, with the element's sign.",
)
