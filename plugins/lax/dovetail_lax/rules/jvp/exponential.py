"""Differentiation of exponentials, logarithms and the logistic function."""

from __future__ import annotations

from math import log
from typing import Any

from ...primitives.arithmetic import add_p, div_p, mul_p, sub_p
from ...primitives.exponential import exp2_p, exp_p, expm1_p, log1p_p, log_p, logistic_p
from ...scalars import scalar
from .kinds import unary


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
