"""Lowering of transcendental and special functions.

An error of an exponent is an error of the result as many times larger as the exponent is: rounding
``x log(2)``, or XLA's ``x - log(2)`` for the half of an exponential, costs hundreds of roundings at
the ends of the range. The rules of exp2, sinh and cosh give exact arguments to the exponential.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import log, prod
from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_core import Primitive

from ...dtypes import finfo
from ...primitives import transcendental as t
from ...primitives.special import (
    bessel_i1e_p,
    digamma_p,
    erf_inv_p,
    erf_p,
    erfc_p,
    positive_polygamma_p,
    positive_zeta_p,
)
from .kinds import accurate, compare, elementwise, select
from .products import broadcast

accurate(t.exp_p, "stablehlo.exponential")
accurate(t.expm1_p, "stablehlo.exponential_minus_one")
accurate(t.log_p, "stablehlo.log")
accurate(t.log1p_p, "stablehlo.log_plus_one")
accurate(t.logistic_p, "stablehlo.logistic")
accurate(t.sin_p, "stablehlo.sine")
accurate(t.cos_p, "stablehlo.cosine")
accurate(t.tan_p, "stablehlo.tan")
accurate(t.tanh_p, "stablehlo.tanh")
elementwise(t.asin_p, "chlo.asin")
elementwise(t.acos_p, "chlo.acos")
elementwise(t.atan_p, "chlo.atan")
elementwise(t.atan2_p, "stablehlo.atan2")
elementwise(t.asinh_p, "chlo.asinh")
elementwise(t.acosh_p, "chlo.acosh")
elementwise(t.atanh_p, "chlo.atanh")


def _by_xla(op: str) -> Any:
    """The rule of a function that XLA expands; 8-bit floats are computed in float32."""

    return lambda b, *operands: _expanded(b, op, broadcast(b, operands), b.out)


def _expanded(b: Any, op: str, xs: Any, out: Any) -> Any:
    if out.dtype.itemsize > 1:
        return b.op(op, xs, out)
    wide = [b.convert(x, np.float32) for x in xs]
    return b.convert(b.op(op, wide, out.update(dtype=np.float32)), out.dtype)


def _function(primitive: Primitive, op: str) -> None:
    stablehlo_rules.set(primitive, _by_xla(op))


_erfc_by_xla = _by_xla("chlo.erfc")


@stablehlo_rules.register(erfc_p)
def _erfc(b: Any, x: Any) -> Any:
    """In double precision without the error of the rounded square in XLA's exp(-x²)."""
    out, aval = _erfc_by_xla(b, x), b.out
    if aval.dtype.itemsize < 8:
        return out

    def op(name: str, *operands: Any, attrs: str = "") -> Any:
        return b.op(f"stablehlo.{name}", list(operands), aval, attrs)

    # On the left, where the result is nearly 2, nothing is lost; on the right it becomes 0.
    x = op("clamp", b.constant(0.0, aval), x, b.constant(30.0, aval))
    half = "exponent_bits = 11 : i32, mantissa_bits = 25 : i32"
    high = op("reduce_precision", x, attrs=half)
    rounded = op("subtract", op("multiply", high, high), op("multiply", x, x))
    lost = op("add", rounded, op("multiply", op("subtract", x, high), op("add", x, high)))
    return op("multiply", out, op("subtract", b.constant(1.0, aval), lost))


_function(erf_p, "chlo.erf")


@stablehlo_rules.register(erf_inv_p)
def _erf_inv(b: Any, x: Any) -> Any:
    """Of arrays with short last axes flat, on CPUs: XLA makes vectors along the last axis alone,
    for all that is in one loop; normal numbers of shape (n, 10) took 8 times as long. The barrier
    keeps what follows, in the shape of the result, out of the loop."""
    shape = x.aval.shape
    if b.platform != "cpu" or b.is_divided or not _is_narrow(shape):
        return _expanded(b, "chlo.erf_inv", [x], b.out)
    flat = x.aval.update(shape=(prod(shape),))
    result = _expanded(b, "chlo.erf_inv", [b.op("stablehlo.reshape", [x], flat)], flat)
    (kept,) = b.op("stablehlo.optimization_barrier", [result], [flat])
    return b.op("stablehlo.reshape", [kept], x.aval)


_LEAST_FLAT, _LANES, _WIDE = 1 << 12, 16, 256


def _is_narrow(shape: tuple[int, ...]) -> bool:
    return (
        len(shape) > 1
        and prod(shape) >= _LEAST_FLAT
        and shape[-1] < _WIDE
        and shape[-1] % _LANES > 0
    )


_function(digamma_p, "chlo.digamma")
_function(positive_polygamma_p, "chlo.polygamma")
_function(positive_zeta_p, "chlo.zeta")
_function(bessel_i1e_p, "chlo.bessel_i1e")


_LOG2 = Fraction("0.693147180559945309417232121458176568")
_BITS = {4: 12, 8: 30}
"""So short is the first part of log(2) that its products with exponents of the type are exact."""


def _operation(b: Any, aval: Any) -> Callable[..., Any]:
    return lambda name, *operands: b.op(f"stablehlo.{name}", list(operands), aval)


def _exact(aval: Any) -> bool:
    return aval.dtype.kind == "f" and aval.dtype.itemsize >= 4


@stablehlo_rules.register(t.exp2_p)
def _exp2(b: Any, x: Any, *, accuracy: Any = None) -> Any:
    """With n the integer next to x: ``exp(a) (1 + e)`` for a = n log(2) + (x - n) log(2) - e."""
    aval = x.aval
    if not _exact(aval) or accuracy is not None:
        scaled = b.op("stablehlo.multiply", [x, b.constant(log(2.0), aval)], aval)
        return stablehlo_rules[t.exp_p](b, scaled, accuracy=accuracy)
    op = _operation(b, aval)
    bits = _BITS[aval.dtype.itemsize]
    high = Fraction(int(_LOG2 * 2**bits), 2**bits)
    most = b.constant(float(2 << finfo(aval.dtype).nexp - 1), aval)
    x = op("clamp", op("negate", most), x, most)
    nearest = op("round_nearest_even", x)
    rest = op("multiply", op("subtract", x, nearest), b.constant(log(2.0), aval))
    rest = op("add", rest, op("multiply", nearest, b.constant(float(_LOG2 - high), aval)))
    main = op("multiply", nearest, b.constant(float(high), aval))
    exponent = op("add", main, rest)
    lost = op("subtract", rest, op("subtract", exponent, main))
    power = op("exponential", exponent)
    # Not power + power * lost, which is NaN where the power is infinite and nothing lost.
    return op("multiply", power, op("add", lost, b.constant(1.0, aval)))


@stablehlo_rules.register(t.cosh_p)
def _cosh(b: Any, x: Any) -> Any:
    """``(h/2) h + (1/2)/h/h`` with ``h = exp(x/2)``, of the size of x, so that h is no zero."""
    aval = x.aval
    if not _exact(aval):
        return b.op("chlo.cosh", [x], aval)
    grown, shrunk = _halves(b, op := _operation(b, aval), op("abs", x), aval)
    return op("add", grown, shrunk)


def _halves(b: Any, op: Callable[..., Any], size: Any, aval: Any) -> tuple[Any, Any]:
    """Half of ``exp(size)``, and of ``exp(-size)``."""
    half = b.constant(0.5, aval)
    root = op("exponential", op("multiply", size, half))
    part = op("multiply", root, half)
    return op("multiply", part, root), op("divide", op("divide", half, root), root)


@stablehlo_rules.register(t.sinh_p)
def _sinh(b: Any, x: Any) -> Any:
    """The difference where the size is 1 or more; ``(m + m/(m + 1))/2`` below, for exp(x) - 1."""
    aval = x.aval
    if not _exact(aval):
        return b.op("chlo.sinh", [x], aval)
    op, one = _operation(b, aval), b.constant(1.0, aval)
    size = op("abs", x)
    grown, shrunk = _halves(b, op, size, aval)
    far = op("subtract", grown, shrunk)
    far = select(b, compare(b, "LT", x, b.constant(0.0, aval)), op("negate", far), far)
    m = op("exponential_minus_one", x)
    near = op("multiply", op("add", m, op("divide", m, op("add", m, one))), b.constant(0.5, aval))
    return select(b, compare(b, "LT", size, one), near, far)
