"""Differentiation of the primitives of this plugin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dovetail_lax as lax
from dovetail_ad import jvp_rules

from .. import primitives as nn

Pair = tuple[Any, Any]


@jvp_rules.register(nn.relu_p)
def _relu(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    out = nn.relu_p.bind(primals[0])  # positive where the operand is, and computed in any case
    zero = nn.number(0.0, out)
    return out, lax.select_n_p.bind(lax.gt_p.bind(out, zero), zero, tangents[0])


@jvp_rules.register(nn.relu6_p)
def _relu6(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    out = nn.relu6_p.bind(primals[0])
    zero, six = nn.number(0.0, out), nn.number(6.0, out)
    between = lax.and_p.bind(lax.gt_p.bind(out, zero), lax.lt_p.bind(out, six))
    return out, lax.select_n_p.bind(between, zero, tangents[0])


@jvp_rules.register(nn.softplus_p)
def _softplus(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    x = primals[0]
    return nn.softplus_p.bind(x), lax.mul_p.bind(tangents[0], lax.logistic_p.bind(x))


@jvp_rules.register(nn.log1mexp_p)
def _log1mexp(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    x = primals[0]
    return nn.log1mexp_p.bind(x), lax.mul_p.bind(tangents[0], nn.log1mexp_slope_p.bind(x))


@jvp_rules.register(nn.log1mexp_slope_p)
def _log1mexp_slope(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    # s = 1/(e^x - 1) has the derivative -s (1 + s), and 1 + s is 1/(1 - e^-x).
    x = primals[0]
    out = nn.log1mexp_slope_p.bind(x)
    other = lax.div_p.bind(nn.number(1.0, out), lax.expm1_p.bind(lax.neg_p.bind(x)))
    return out, lax.mul_p.bind(tangents[0], lax.mul_p.bind(out, other))


@jvp_rules.register(nn.normal_cdf_p)
def _normal_cdf(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    x = primals[0]
    return nn.normal_cdf_p.bind(x), lax.mul_p.bind(tangents[0], lax.normal_density_p.bind(x))


@jvp_rules.register(nn.softmax_p)
def _softmax(primals: Sequence[Any], tangents: Sequence[Any], *, axes: tuple[int, ...]) -> Pair:
    # d(e / sum e) = y (t - sum(y t))
    y, t = nn.softmax_p.bind(primals[0], axes=axes), tangents[0]
    mean = nn.reduced_sum(lax.mul_p.bind(y, t), axes)
    return y, lax.mul_p.bind(y, lax.sub_p.bind(t, mean))


@jvp_rules.register(nn.log_softmax_p)
def _log_softmax(primals: Sequence[Any], tangents: Sequence[Any], *, axes: tuple[int, ...]) -> Pair:
    # d(x - log sum exp x) = t - sum(softmax(x) t)
    y, t = nn.log_softmax_p.bind(primals[0], axes=axes), tangents[0]
    mean = nn.reduced_sum(lax.mul_p.bind(lax.exp_p.bind(y), t), axes)
    return y, lax.sub_p.bind(t, mean)


@jvp_rules.register(nn.logsumexp_p)
def _logsumexp(primals: Sequence[Any], tangents: Sequence[Any], *, axes: tuple[int, ...]) -> Pair:
    # Not exp(x - out), which has the rounding error of out. In a compiled program both share the
    # maximum, exponentials and sum.
    x, t = primals[0], tangents[0]
    mean = lax.reduce_sum_p.bind(lax.mul_p.bind(nn.softmax_p.bind(x, axes=axes), t), axes=axes)
    return nn.logsumexp_p.bind(x, axes=axes), mean
