"""Differentiation of derivatives of elementwise functions: each a product of few factors.

Where the derivative is small, ``x`` times it is about 1: these two are multiplied first, so that no
product of a part of the factors is less than that of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from dovetail_ad import jvp_rules

from ...primitives.arithmetic import mul_p, neg_p
from ...primitives.slopes import (
    acosh_slope_p,
    asin_slope_p,
    asinh_slope_p,
    atan_slope_p,
    atanh_slope_p,
    erf_inv_slope_p,
    erf_slope_p,
    logistic_slope_p,
    normal_density_p,
    precise_erf_inv_p,
    scaled_bessel_slope_p,
    tanh_slope_p,
    tetragamma_p,
    trigamma_p,
)
from ...primitives.transcendental import tanh_p
from ...scalars import scalar
from .kinds import unary


def _product(t: Any, *factors: Any) -> Any:
    """``t`` times the product of the factors, the first ones first."""
    return mul_p.bind(t, reduce(mul_p.bind, factors))


def _times(factor: float, x: Any, out: Any) -> Any:
    return mul_p.bind(x, scalar(factor, out.dtype))


def _logistic_slope(t: Any, out: Any, x: Any) -> Any:
    return _product(t, neg_p.bind(tanh_p.bind(_times(0.5, x, out))), out)


unary(logistic_slope_p, _logistic_slope)
unary(tanh_slope_p, lambda t, out, x: _product(t, _times(-2.0, tanh_p.bind(x), out), out))
unary(asin_slope_p, lambda t, out, x: _product(t, mul_p.bind(x, out), out, out))
unary(atan_slope_p, lambda t, out, x: _product(t, _times(-2.0, mul_p.bind(x, out), out), out))
unary(asinh_slope_p, lambda t, out, x: _product(t, neg_p.bind(mul_p.bind(x, out)), out, out))
unary(acosh_slope_p, lambda t, out, x: _product(t, neg_p.bind(mul_p.bind(x, out)), out, out))
unary(atanh_slope_p, lambda t, out, x: _product(t, _times(2.0, mul_p.bind(x, out), out), out))
unary(erf_slope_p, lambda t, out, x: _product(t, _times(-2.0, x, out), out))
unary(normal_density_p, lambda t, out, x: _product(t, neg_p.bind(x), out))
unary(precise_erf_inv_p, lambda t, out, y: mul_p.bind(t, erf_inv_slope_p.bind(y)))
unary(
    erf_inv_slope_p,
    lambda t, out, y: _product(t, _times(2.0, precise_erf_inv_p.bind(y), out), out, out),
)
unary(trigamma_p, lambda t, out, x: mul_p.bind(t, tetragamma_p.bind(x)))


@jvp_rules.register(scaled_bessel_slope_p)
def _scaled_bessel_slope(
    primals: Sequence[Any], tangents: Sequence[Any], *, n: int, order: int
) -> Any:
    out, slope = (scaled_bessel_slope_p.bind(primals[0], n=n, order=k) for k in (order, order + 1))
    return out, mul_p.bind(tangents[0], slope)
