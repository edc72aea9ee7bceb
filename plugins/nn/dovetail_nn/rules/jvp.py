"""Differentiation of the primitives of this plugin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dovetail_lax as lax
from dovetail_ad import jvp_rules

from ..primitives import (
    log1mexp_p,
    log1mexp_slope_p,
    log_softmax_p,
    logsumexp_p,
    normal_cdf_p,
    number,
    reduced_sum,
    relu6_p,
    relu_p,
    softmax_p,
    softplus_p,
)

Pair = tuple[Any, Any]


@jvp_rules.register(relu_p)
def _relu(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    out = relu_p.bind(primals[0])  # positive where the operand is, and needed anyhow
    zero = number(0.0, out)
    return out, lax.select_n_p.bind(lax.gt_p.bind(out, zero), zero, tangents[0])


@jvp_rules.register(relu6_p)
def _relu6(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    out = relu6_p.bind(primals[0])
    zero, six = number(0.0, out), number(6.0, out)
    inside = lax.and_p.bind(lax.gt_p.bind(out, zero), lax.lt_p.bind(out, six))
    return out, lax.select_n_p.bind(inside, zero, tangents[0])


@jvp_rules.register(softplus_p)
def _softplus(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    x = primals[0]
    return softplus_p.bind(x), lax.mul_p.bind(tangents[0], lax.logistic_p.bind(x))


@jvp_rules.register(log1mexp_p)
def _log1mexp(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    x = primals[0]
    return log1mexp_p.bind(x), lax.mul_p.bind(tangents[0], log1mexp_slope_p.bind(x))


@jvp_rules.register(log1mexp_slope_p)
def _log1mexp_slope(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    # s = 1/(e^x - 1) has the derivative -s (1 + s), and 1 + s is 1/(1 - e^-x).
    x = primals[0]
    out = log1mexp_slope_p.bind(x)
    other = lax.div_p.bind(number(1.0, out), lax.expm1_p.bind(lax.neg_p.bind(x)))
    return out, lax.mul_p.bind(tangents[0], lax.mul_p.bind(out, other))


@jvp_rules.register(normal_cdf_p)
def _normal_cdf(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    x = primals[0]
    return normal_cdf_p.bind(x), lax.mul_p.bind(tangents[0], lax.normal_density_p.bind(x))


@jvp_rules.register(softmax_p)
def _softmax(primals: Sequence[Any], tangents: Sequence[Any], *, axes: tuple[int, ...]) -> Pair:
    # d(e / sum e) = y (t - sum(y t))
    y, t = softmax_p.bind(primals[0], axes=axes), tangents[0]
    mean = reduced_sum(lax.mul_p.bind(y, t), axes)
    return y, lax.mul_p.bind(y, lax.sub_p.bind(t, mean))


@jvp_rules.register(log_softmax_p)
def _log_softmax(primals: Sequence[Any], tangents: Sequence[Any], *, axes: tuple[int, ...]) -> Pair:
    # d(x - log sum exp x) = t - sum(softmax(x) t)
    y, t = log_softmax_p.bind(primals[0], axes=axes), tangents[0]
    mean = reduced_sum(lax.mul_p.bind(lax.exp_p.bind(y), t), axes)
    return y, lax.sub_p.bind(t, mean)


@jvp_rules.register(logsumexp_p)
def _logsumexp(primals: Sequence[Any], tangents: Sequence[Any], *, axes: tuple[int, ...]) -> Pair:
    # Not exp(x - out), which has the rounding error of out. The maximum, exponentials and sum of
    # both are one in a compiled program.
    x, t = primals[0], tangents[0]
    mean = lax.reduce_sum_p.bind(lax.mul_p.bind(softmax_p.bind(x, axes=axes), t), axes=axes)
    return logsumexp_p.bind(x, axes=axes), mean
