"""The gamma function, its logarithm and its sign, of real arguments."""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core.base.arguments import integer
from dovetail_jit import fused

from .evaluation import Array, ArrayLike, evaluate


@fused()
def gammaln(x: ArrayLike) -> Array:
    """The logarithm of the gamma function's absolute value; its derivative is :func:`digamma`."""
    return evaluate("gammaln", lax.lgamma, x)


@fused()
def gammasgn(x: ArrayLike) -> Array:
    """The sign of the gamma function: NaN at its poles and minus infinity, that of ``x`` at 0."""
    return evaluate("gammasgn", gamma_sign, x)


def gamma_sign(x: Any) -> Any:
    below = lax.floor(x)
    odd = dnp.mod(below, 2.0) != 0
    sign = dnp.where(dnp.logical_and(x < 0, odd), -1.0, 1.0)
    sign = dnp.where(x == 0, dnp.copysign(1.0, x), sign)
    undefined = dnp.logical_or(dnp.logical_and(x < 0, below == x), x != x)
    return dnp.where(undefined, np.nan, sign)


@fused()
def gamma(x: ArrayLike) -> Array:
    """The gamma function."""
    return evaluate("gamma", lambda x: gamma_sign(x) * lax.exp(lax.lgamma(x)), x)


def multigammaln(a: ArrayLike, d: int) -> Array:
    """The logarithm of the multivariate gamma function of dimension ``d``.

    That is ``d * (d - 1) / 4 * log(pi)`` plus the sum of ``gammaln(a - i / 2)`` for ``i < d``.

    Raises:
        TypeError: ``d`` is not an integer known while tracing.
    """
    return _multigammaln(a, d=integer("multigammaln: d", d))


@fused(static=("d",))
def _multigammaln(a: Any, *, d: int) -> Any:
    def value(a: Any) -> Any:
        out = lax.full_like(a, d * (d - 1) / 4 * log(pi))
        for i in range(d):
            out = out + lax.lgamma(a - i / 2)
        return out

    return evaluate("multigammaln", value, a)
