"""Differentiation of gamma variates in their parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes

import dovetail_lax as lax
from dovetail_ad import jvp_rules

from ..draws.gamma import random_gamma_p


@jvp_rules.register(random_gamma_p)
def _random_gamma(
    primals: Sequence[Any], tangents: Sequence[Any], *, log_space: bool, **params: Any
) -> tuple[Any, Any]:
    # The distribution function F(x; a) of a variate stays as it is while a changes, so that
    # dx/da = -(dF/da) / (dF/dx), and d(log x)/da is that by x (by the least number where x is 0).
    out = random_gamma_p.bind(*primals, log_space=log_space, **params)
    alpha, tangent = primals[-1], tangents[-1]
    if tangent is None:
        return out, None
    if not log_space:
        return out, lax.mul(tangent, lax.random_gamma_grad(alpha, out))
    tiny = out.dtype.type(ml_dtypes.finfo(out.dtype).tiny)
    x = lax.max(lax.exp(out), tiny)
    return out, lax.mul(tangent, lax.div(lax.random_gamma_grad(alpha, x), x))
