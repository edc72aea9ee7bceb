"""Differentiation of exponentials, logarithms, trigonometric and hyperbolic functions."""

from __future__ import annotations

from math import log
from typing import Any

from ...dtypes import kind_of
from ...numerics.scaling import inverse_power
from ...primitives.arithmetic import (
    abs_p,
    add_p,
    div_p,
    max_p,
    mul_p,
    neg_p,
    square_p,
    sub_p,
)
from ...primitives.slopes import (
    acosh_slope_p,
    asin_slope_p,
    asinh_slope_p,
    atan_slope_p,
    atanh_slope_p,
    logistic_slope_p,
    tanh_slope_p,
)
from ...primitives.transcendental import (
    acos_p,
    acosh_p,
    asin_p,
    asinh_p,
    atan2_p,
    atan_p,
    atanh_p,
    cos_p,
    cosh_p,
    exp2_p,
    exp_p,
    expm1_p,
    log1p_p,
    log_p,
    logistic_p,
    sin_p,
    sinh_p,
    tan_p,
    tanh_p,
)
from ...primitives.values import optimization_barrier_p
from ...scalars import scalar
from .kinds import nary, unary


def _one(out: Any) -> Any:
    return scalar(1.0, out.dtype)


def _exp2(t: Any, out: Any, x: Any) -> Any:
    # Of x - 1: the derivative is finite where the function just overflows.
    lower = exp2_p.bind(sub_p.bind(x, _one(out)))
    return mul_p.bind(t, mul_p.bind(scalar(2.0 * log(2.0), out.dtype), lower))


def _log1p(t: Any, out: Any, x: Any) -> Any:
    return div_p.bind(t, add_p.bind(x, scalar(1.0, out.dtype)))


unary(exp_p, lambda t, out, x: mul_p.bind(t, out))
unary(exp2_p, _exp2)
unary(expm1_p, lambda t, out, x: mul_p.bind(t, exp_p.bind(x)))  # out + 1 may be 0
unary(log_p, lambda t, out, x: div_p.bind(t, x))
unary(log1p_p, _log1p)
unary(logistic_p, lambda t, out, x: mul_p.bind(t, logistic_slope_p.bind(x)))


def _tan(t: Any, out: Any, x: Any) -> Any:
    return mul_p.bind(t, add_p.bind(square_p.bind(out), _one(out)))


unary(sin_p, lambda t, out, x: mul_p.bind(t, cos_p.bind(x)))
unary(cos_p, lambda t, out, x: mul_p.bind(t, neg_p.bind(sin_p.bind(x))))
unary(tan_p, _tan)
unary(sinh_p, lambda t, out, x: mul_p.bind(t, cosh_p.bind(x)))
unary(cosh_p, lambda t, out, x: mul_p.bind(t, sinh_p.bind(x)))
unary(tanh_p, lambda t, out, x: mul_p.bind(t, tanh_slope_p.bind(x)))
unary(asin_p, lambda t, out, x: mul_p.bind(t, asin_slope_p.bind(x)))
unary(acos_p, lambda t, out, x: mul_p.bind(t, neg_p.bind(asin_slope_p.bind(x))))
unary(atan_p, lambda t, out, x: mul_p.bind(t, atan_slope_p.bind(x)))
unary(asinh_p, lambda t, out, x: mul_p.bind(t, asinh_slope_p.bind(x)))
unary(acosh_p, lambda t, out, x: mul_p.bind(t, acosh_slope_p.bind(x)))
unary(atanh_p, lambda t, out, x: mul_p.bind(t, atanh_slope_p.bind(x)))


def _atan2_part(t: Any, part: Any, x: Any, y: Any) -> Any:
    """``t part / (x² + y²)``, of numbers next to 1, by a power of two: the squares are numbers.

    The result does not depend on it, so that its derivative does not either.
    """
    if kind_of(t.dtype) == "complex":
        return mul_p.bind(t, div_p.bind(part, add_p.bind(square_p.bind(x), square_p.bind(y))))
    scale = inverse_power(max_p.bind(abs_p.bind(x), abs_p.bind(y)))
    # The barrier keeps XLA from squaring constants by themselves, (c s)² as c² s².
    x, y, part = optimization_barrier_p.bind(*[mul_p.bind(v, scale) for v in (x, y, part)])
    slope = div_p.bind(part, add_p.bind(square_p.bind(x), square_p.bind(y)))
    return mul_p.bind(t, mul_p.bind(slope, scale))


nary(
    atan2_p,
    lambda t, out, x, y: _atan2_part(t, y, x, y),
    lambda t, out, x, y: _atan2_part(t, neg_p.bind(x), x, y),
)
