"""Lowering of functions whose exponential is not that of the operand: exp2, sinh and cosh.

An error of the exponent is one of the result as many times larger as the exponent is: rounding
``x log(2)``, or XLA's ``x - log(2)`` for the half of an exponential, costs hundreds of roundings at
the ends of the range. Here nothing but exact arguments are given to the exponential.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import log
from typing import Any

from dovetail_backends import stablehlo_rules

from ...dtypes import finfo
from ...primitives import transcendental as t
from .kinds import compare, select

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
    whole = op("round_nearest_even", x)
    rest = op("multiply", op("subtract", x, whole), b.constant(log(2.0), aval))
    rest = op("add", rest, op("multiply", whole, b.constant(float(_LOG2 - high), aval)))
    main = op("multiply", whole, b.constant(float(high), aval))
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
