"""Remainders of approximations: Stirling's formula (DLMF 5.11.1), and log(1 + x) = x."""

from __future__ import annotations

from math import log, pi
from typing import Any

from ..functions.arithmetic import add, div, mul, sub
from ..functions.discrete import bitwise_and, ge, gt, lt
from ..functions.operands import unary
from ..functions.transcendental import log as log_of
from ..functions.values import select
from ..primitives.special import lgamma_p
from .log_gamma import LARGE, stirling_series
from .precision import filled


def log1pmx(x: Any, one_plus: Any) -> Any:
    """``log(1 + x) - x`` for ``one_plus = 1 + x``, which ``x`` does not hold if it is near -1.

    For small x by twice the inverse hyperbolic tangent of x/(2 + x).
    """
    near = bitwise_and(gt(x, -0.45), lt(x, 0.8))
    small = select(near, x, filled(x, 0.0))
    s = div(small, add(small, 2.0))
    square, half = mul(s, s), mul(mul(small, small), 0.5)
    series = filled(x, 2 / 31)
    for k in reversed(range(14)):
        series = add(mul(series, square), 2 / (2 * k + 3))
    rest = sub(half, mul(s, add(half, mul(square, series))))
    return select(near, sub(0.0, rest), sub(log_of(one_plus), x))


def stirling_rest(x: Any) -> Any:
    """``log Γ(x) - (x - 1/2) log(x) + x - log(2π)/2`` for positive x, about 1/(12 x)."""
    large = ge(x, LARGE)
    series = stirling_series(select(large, x, filled(x, LARGE)))
    low = select(large, filled(x, 1.0), x)
    stirling = sub(mul(sub(low, 0.5), log_of(low)), sub(low, 0.5 * log(2 * pi)))
    return select(large, series, sub(unary(lgamma_p, low), stirling))
