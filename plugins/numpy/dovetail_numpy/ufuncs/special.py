"""Further functions of two operands: distances, logarithms of sums, signs, neighbours, steps."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.wrapping import alias
from dovetail_core import is_inexact, typeof
from dovetail_lax import dtypes

from ..creation.arrays import as_array
from ..fusion import fused, of_two_arrays, one_call
from ..operands import ArrayLike
from ..operations import dtype_of, number, select, strong
from ..promotion import broadcast, convert, promote, promote_all
from .comparisons import GREATER, LESS, isnan
from .plans import (
    ALL,
    FLOATS,
    INEXACT,
    REALS,
    Binary,
    WeakIfAll,
    accept,
    always,
    binary_function,
    by_kind,
    for_kinds,
    named,
)


def _real_only(op: Any) -> Any:
    return always(fused()(op), FLOATS)


def _hypot(x: Any, y: Any) -> Any:
    from .differentiated import hypot

    return hypot(x, y)


def _ordered(x: Any, y: Any) -> tuple[Any, Any, Any]:
    """The greater operand, the other one less it, and a mask where that difference is NaN.

    Operands are selected by comparison, not by ``max`` and ``abs``, so that the derivative at equal
    operands is that of the smooth function. The difference of equal infinities is 0.
    """
    first = lax.ge(x, y)
    top = select(first, x, y)
    difference = lax.sub(select(first, y, x), top)
    undefined = lax.ne(difference, difference)
    return top, select(undefined, number(x, 0), difference), undefined


def _logaddexp(x: Any, y: Any) -> Any:
    top, difference, undefined = _ordered(x, y)
    total = lax.add(top, lax.log1p(lax.exp(difference)))
    return select(undefined, _of_infinities(x, y, undefined), total)


def _of_infinities(x: Any, y: Any, undefined: Any) -> Any:
    """The sum of equal infinities, or NaN; derivatives at NaN and below all numbers are NaN.

    Elements that are not selected are computed from 1: an infinite derivative times a cotangent of
    0 would be NaN at all other operands.
    """
    total = lax.add(x, y)
    above = lax.gt(total, number(total, float("-inf")))
    lost = lax.bitwise_and(undefined, lax.bitwise_not(above))
    return select(lost, lax.log(lax.exp(select(lost, total, number(total, 1)))), total)


def _logaddexp_complex(x: Any, y: Any) -> Any:
    larger = lax.ge(lax.real(x), lax.real(y))
    top, low = select(larger, x, y), select(larger, y, x)
    total = lax.add(top, lax.log1p(lax.exp(lax.sub(low, top))))
    pi2 = number(lax.real(total), 2 * np.pi)
    im = lax.imag(total)
    turns = lax.floor(lax.add(lax.div(im, pi2), number(im, 0.5)))
    return lax.complex(lax.real(total), lax.sub(im, lax.mul(turns, pi2)))


def _logaddexp2(x: Any, y: Any) -> Any:
    top, difference, undefined = _ordered(x, y)
    tail = lax.mul(lax.log1p(lax.exp2(difference)), number(x, 1 / log(2)))
    return select(undefined, _of_infinities(x, y, undefined), lax.add(top, tail))


def _logaddexp2_complex(x: Any, y: Any) -> Any:
    scale = number(x, log(2))
    total = _logaddexp_complex(lax.mul(x, scale), lax.mul(y, scale))
    return lax.div(total, scale)


LOGADDEXP = Binary("logaddexp", by_kind(
    floating=fused()(_logaddexp), complex=fused()(_logaddexp_complex)), inexact=True)  # fmt: skip
LOGADDEXP2 = WeakIfAll("logaddexp2", by_kind(
    floating=fused()(_logaddexp2), complex=fused()(_logaddexp2_complex)), inexact=True)  # fmt: skip


def _sign_bit(x: Any) -> Any:
    bits = np.dtype(f"int{dtype_of(x).itemsize * 8}")
    return lax.lt(lax.bitcast_convert_type(x, bits), bits.type(0))


def _copysign(x: Any, y: Any) -> Any:
    aval: Any = typeof(y)
    size = lax.abs(x) if aval.weak_type else strong(lax.abs(x))
    return select(_sign_bit(y), lax.neg(size), size)


def _heaviside(x: Any, y: Any) -> Any:
    step = select(lax.lt(x, number(x, 0)), number(x, 0), number(x, 1))
    at_zero = select(lax.eq(x, number(x, 0)), y, step)
    return select(lax.ne(x, x), x, at_zero)


def _on_full_shapes(op: Any) -> Any:
    """``op`` on arrays of one shape, which functions with bit patterns need."""

    def apply(x: Any, y: Any) -> Any:
        x, y = as_array("", x), as_array("", y)
        shape = x.shape or y.shape
        return op(broadcast(x, shape), broadcast(y, shape))

    return apply


arctan2 = binary_function(
    Binary("arctan2", always(lax.atan2_p, INEXACT), inexact=True),
    "The angle of the point ``(x2, x1)`` in the plane, from -π to π.",
)
atan2 = of_two_arrays(alias(arctan2, "atan2"))
hypot = binary_function(
    WeakIfAll("hypot", _real_only(_hypot), inexact=True),
    "``sqrt(x1**2 + x2**2)`` without overflow; for real numbers.",
)
copysign = binary_function(
    Binary("copysign", _real_only(_on_full_shapes(_copysign)), inexact=True),
    "``x1`` with the sign of ``x2``.",
)
nextafter = binary_function(
    Binary("nextafter", always(_on_full_shapes(lax.nextafter), FLOATS), inexact=True),
    "The next number of its type after ``x1`` in the direction of ``x2``.",
)
heaviside = binary_function(
    WeakIfAll("heaviside", _real_only(_heaviside), inexact=True),
    "0 for negative ``x1``, 1 for positive ones, ``x2`` at zero.",
)


def _ignoring_nan(order: Binary) -> Any:
    def apply(x: Any, y: Any) -> Any:
        x, y = _on_full_shapes(lambda a, b: (a, b))(x, y)
        return select(lax.bitwise_or(order(x, y), isnan(y)), x, y)

    return fused()(apply)


def _ignoring_nan_function(name: str, prim: Any, order: Binary, doc: str) -> Any:
    exact = for_kinds(ALL[:3], prim)
    op = _ignoring_nan(order)
    engine = Binary(name, by_kind(**exact, floating=op, complex=op))

    def function(x1: ArrayLike, x2: ArrayLike) -> Any:
        return engine(x1, x2)

    return of_two_arrays(named(function, name, doc))


fmax = _ignoring_nan_function(
    "fmax", lax.max_p, GREATER, "The greater of two elements; NaN only where both are NaN."
)
fmin = _ignoring_nan_function(
    "fmin", lax.min_p, LESS, "The lesser of two elements; NaN only where both are NaN."
)


@fused()
def _ldexp(x: Any, n: Any) -> Any:
    # By factors that are neither infinite nor subnormal unless the result is.
    reach = (1 << (dtypes.finfo(x.dtype).nexp - 1)) - 2
    for _ in range(_FACTORS):
        part = lax.clamp(number(n, -reach), n, number(n, reach))
        x = lax.mul(x, _power_of_two(lax.convert_element_type(part, _bits_of(x.dtype)), x.dtype))
        n = lax.sub(n, part)
    return x


_FACTORS = 3
"""The number of powers of two whose product takes the least number to the greatest one."""


def _bits_of(dtype: Any) -> Any:
    return np.dtype(f"int{dtypes.finfo(dtype).bits}")


def ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Any:
    """``x1 * 2**x2`` for integers ``x2``.

    Raises:
        TypeError: ``x1`` is complex, or ``x2`` is not of integers.
    """
    (x,) = promote("ldexp", x1, inexact=True)
    n = as_array("ldexp", x2, 1)
    accept("ldexp", dtype_of(x), FLOATS)
    accept("ldexp", n.dtype, ("bool", "signed", "unsigned"))
    if n.dtype.kind != "b":  # exponents beyond all results, which could not be added up
        reach, bounds = 3 << (dtypes.finfo(dtype_of(x)).nexp - 1), dtypes.iinfo(n.dtype)
        low, high = max(-reach, int(bounds.min)), min(reach - 6, int(bounds.max))
        n = lax.clamp(number(n, low), n, number(n, high))
    n = convert(n, np.dtype(np.int32))
    shape = lax.broadcast_shapes(np.shape(x), n.shape)
    return _ldexp(broadcast(as_array("ldexp", x), shape), broadcast(n, shape))


@fused()
def _frexp(x: Any) -> tuple[Any, Any]:
    info = dtypes.finfo(x.dtype)
    bits, mantissa = info.bits, info.nmant
    int_type = np.dtype(f"int{bits}")
    bias = (1 << (bits - mantissa - 2)) - 1
    field = (1 << (bits - mantissa - 1)) - 1
    pattern = lax.bitcast_convert_type(x, int_type)
    biased = lax.bitwise_and(
        lax.shift_right_logical(pattern, int_type.type(mantissa)), int_type.type(field)
    )
    digits = lax.bitwise_and(pattern, int_type.type((1 << mantissa) - 1))
    # Processors may take subnormal numbers for zero, so that all tests are of the bits. The leading
    # digit of a subnormal number is shifted to the position of a normal number's implicit one.
    small = lax.eq(biased, int_type.type(0))
    shift = lax.sub(lax.clz(digits), int_type.type(bits - 1 - mantissa))
    shifted = lax.bitwise_and(lax.shift_left(digits, shift), int_type.type((1 << mantissa) - 1))
    digits = select(small, shifted, digits)
    biased = select(small, lax.sub(int_type.type(1), shift), biased)
    sign = lax.bitwise_and(pattern, int_type.type(-(1 << (bits - 1))))
    fraction = lax.bitcast_convert_type(
        lax.bitwise_or(lax.bitwise_or(sign, digits), int_type.type((bias - 1) << mantissa)), x.dtype
    )
    nothing = lax.eq(lax.bitwise_xor(pattern, sign), int_type.type(0))
    special = lax.bitwise_or(lax.bitwise_not(lax.is_finite(x)), nothing)
    exponent = select(special, int_type.type(0), lax.sub(biased, int_type.type(bias - 1)))
    mantissas = _with_slope(x, lax.stop_gradient(fraction), lax.neg(exponent))
    return select(special, x, mantissas), lax.convert_element_type(exponent, np.int32)


def _with_slope(x: Any, value: Any, exponent: Any) -> Any:
    """``value``, which was computed from the bits of ``x``, with the derivative ``2**exponent``.

    The derivative is that of (x - x) times two powers of two: their product may be infinite.
    """
    half = lax.div(exponent, exponent.dtype.type(2))
    still = lax.sub(x, lax.stop_gradient(x))
    for part in (half, lax.sub(exponent, half)):
        still = lax.mul(still, lax.stop_gradient(_power_of_two(part, x.dtype)))
    return lax.add(value, still)


def _power_of_two(n: Any, dtype: Any) -> Any:
    """``2**n`` for integers ``n`` of the exponents of normal numbers, by their bits."""
    info = dtypes.finfo(dtype)
    bias = (1 << (info.bits - info.nmant - 2)) - 1
    bits = lax.shift_left(lax.add(n, n.dtype.type(bias)), lax.full_like(n, info.nmant))
    return lax.bitcast_convert_type(bits, dtype)


@one_call()
def frexp(x: ArrayLike, /) -> tuple[Any, Any]:
    """Mantissas in ``[0.5, 1)`` and integer exponents with ``x == mantissa * 2**exponent``.

    Raises:
        TypeError: ``x`` is complex.
    """
    (v,) = promote("frexp", x, inexact=True)
    accept("frexp", dtype_of(v), FLOATS)
    return _frexp(as_array("frexp", v))


@fused()
def _modf(x: Any) -> tuple[Any, Any]:
    rounded = select(lax.ge(x, number(x, 0)), lax.floor(x), lax.ceil(x))
    infinite = lax.eq(lax.abs(x), number(x, float("inf")))
    return select(infinite, number(x, 0), lax.sub(x, rounded)), rounded


@one_call("out")
def modf(x: ArrayLike, /, out: None = None) -> tuple[Any, Any]:
    """The fractional and the whole part of each element, both with its sign.

    Raises:
        TypeError: ``x`` is complex.
    """
    from ..operands import no_out

    no_out("modf", out)
    (v,) = promote("modf", x, inexact=True)
    accept("modf", dtype_of(v), REALS)
    return _modf(as_array("modf", v))


@fused()
def _nan_to_num(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    inf = float("inf")
    x = select(lax.eq(x, number(x, inf)), posinf, select(lax.ne(x, x), nan, x))
    return select(lax.eq(x, number(x, -inf)), neginf, x)


@one_call("copy")
def nan_to_num(
    x: ArrayLike, copy: bool = True, nan: ArrayLike = 0.0, posinf: ArrayLike | None = None,
    neginf: ArrayLike | None = None,
) -> Any:  # fmt: skip
    """``x`` with NaN replaced by ``nan``, infinities by the given or the largest finite numbers."""
    del copy
    x = as_array("nan_to_num", x)
    if x.dtype.kind == "c":
        parts = [nan_to_num(p, True, nan, posinf, neginf) for p in (lax.real(x), lax.imag(x))]
        return lax.complex(*parts)
    if not is_inexact(x.dtype):  # nor have random keys
        return x
    info = dtypes.finfo(x.dtype)
    values = nan, info.max if posinf is None else posinf, info.min if neginf is None else neginf
    return _nan_to_num(x, *(convert(promote_all("nan_to_num", v)[0], x.dtype) for v in values))
