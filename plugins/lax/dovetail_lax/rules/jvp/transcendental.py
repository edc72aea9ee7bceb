"""Differentiation of exponentials, logarithms, trigonometric and hyperbolic functions."""

from __future__ import annotations

from math import log
from typing import Any

from ...dtypes import kind_of
from ...primitives.arithmetic import add_p, div_p, mul_p, neg_p, rsqrt_p, square_p, sub_p
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
from ...scalars import scalar
from .kinds import nary, unary


def _exp2(t: Any, out: Any, x: Any) -> Any:
    return mul_p.bind(t, mul_p.bind(scalar(log(2.0), out.dtype), out))


def _expm1(t: Any, out: Any, x: Any) -> Any:
    return mul_p.bind(t, add_p.bind(out, scalar(1.0, out.dtype)))


def _log1p(t: Any, out: Any, x: Any) -> Any:
    return div_p.bind(t, add_p.bind(x, scalar(1.0, out.dtype)))


def _logistic(t: Any, out: Any, x: Any) -> Any:
    return mul_p.bind(t, mul_p.bind(out, sub_p.bind(scalar(1.0, out.dtype), out)))


unary(exp_p, lambda t, out, x: mul_p.bind(t, out))
unary(exp2_p, _exp2)
unary(expm1_p, _expm1)
unary(log_p, lambda t, out, x: div_p.bind(t, x))
unary(log1p_p, _log1p)
unary(logistic_p, _logistic)


def _one(out: Any) -> Any:
    return scalar(1.0, out.dtype)


def _tan(t: Any, out: Any, x: Any) -> Any:
    return mul_p.bind(t, add_p.bind(square_p.bind(out), _one(out)))


def _tanh(t: Any, out: Any, x: Any) -> Any:
    return mul_p.bind(t, sub_p.bind(_one(out), square_p.bind(out)))


unary(sin_p, lambda t, out, x: mul_p.bind(t, cos_p.bind(x)))
unary(cos_p, lambda t, out, x: mul_p.bind(t, neg_p.bind(sin_p.bind(x))))
unary(tan_p, _tan)
unary(sinh_p, lambda t, out, x: mul_p.bind(t, cosh_p.bind(x)))
unary(cosh_p, lambda t, out, x: mul_p.bind(t, sinh_p.bind(x)))
unary(tanh_p, _tanh)


def _asin(t: Any, out: Any, x: Any) -> Any:
    return mul_p.bind(t, rsqrt_p.bind(sub_p.bind(_one(out), square_p.bind(x))))


def _acos(t: Any, out: Any, x: Any) -> Any:
    return mul_p.bind(t, neg_p.bind(rsqrt_p.bind(sub_p.bind(_one(out), square_p.bind(x)))))


def _atan(t: Any, out: Any, x: Any) -> Any:
    return div_p.bind(t, add_p.bind(square_p.bind(x), _one(out)))


def _asinh(t: Any, out: Any, x: Any) -> Any:
    return mul_p.bind(t, rsqrt_p.bind(add_p.bind(square_p.bind(x), _one(out))))


def _acosh(t: Any, out: Any, x: Any) -> Any:
    below, above = sub_p.bind(x, _one(out)), add_p.bind(x, _one(out))
    if kind_of(out.dtype) == "complex":  # the product of roots keeps the branch, its root does not
        return mul_p.bind(t, mul_p.bind(rsqrt_p.bind(below), rsqrt_p.bind(above)))
    return mul_p.bind(t, rsqrt_p.bind(mul_p.bind(below, above)))


def _atanh(t: Any, out: Any, x: Any) -> Any:
    # (1 - x)(1 + x) loses less near 1 than 1 - x².
    one = _one(out)
    return div_p.bind(t, mul_p.bind(sub_p.bind(one, x), add_p.bind(one, x)))


unary(asin_p, _asin)
unary(acos_p, _acos)
unary(atan_p, _atan)
unary(asinh_p, _asinh)
unary(acosh_p, _acosh)
unary(atanh_p, _atanh)


def _norm2(x: Any, y: Any) -> Any:
    return add_p.bind(square_p.bind(x), square_p.bind(y))


nary(
    atan2_p,
    lambda t, out, x, y: mul_p.bind(t, div_p.bind(y, _norm2(x, y))),
    lambda t, out, x, y: mul_p.bind(t, div_p.bind(neg_p.bind(x), _norm2(x, y))),
)
