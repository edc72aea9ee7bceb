"""Student's t distribution: of a normal mean over its estimated error."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..arguments import ArrayLike
from ..special import betainc, betaln, ndtri
from ..special.evaluation import differentiable, slope_of
from ..special.gamma_family.inverse_beta import inverse_odds, log_beginning
from .families import Arguments, Continuous
from .tails import log_betainc

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def t(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    """Student's t distribution of ``df`` degrees of freedom"""
    return Arguments(x, (df,), loc, scale)


def _log_density(z: Any, df: Any) -> Any:
    # The square of a large argument overflows; 1 is negligible in the sum with it.
    far = lax.abs(z) > 1e15
    square = dnp.where(far, 0.0, z)
    logarithm = dnp.where(
        far,
        2.0 * lax.log(lax.abs(dnp.where(far, z, 1.0))) - lax.log(df),
        lax.log1p(square * square / df),
    )
    return -0.5 * (df + 1.0) * logarithm - betaln(0.5 * df, 0.5) - 0.5 * lax.log(df)


def _parts(z: Any, df: Any) -> tuple[Any, Any]:
    """``z**2 / (df + z**2)``, and 1 less it."""
    inner = lax.abs(z) * lax.rsqrt(df)
    far = inner > 1
    inverse = 1.0 / dnp.where(far, inner, 1.0)
    square = dnp.where(far, inverse * inverse, dnp.where(far, 0.0, inner) ** 2)
    less, more = square / (1.0 + square), 1.0 / (1.0 + square)
    return dnp.where(far, more, less), dnp.where(far, less, more)


def _below(z: Any, df: Any) -> Any:
    part, rest = _parts(z, df)
    half = 0.5 * df
    near = part * (half + 0.5) <= 0.5  # below the mean, where probabilities are not small
    one = lax.full_like(df, 0.5)
    value = betainc(
        dnp.where(near, one, half), dnp.where(near, half, one), dnp.where(near, part, rest)
    )
    low = dnp.where(near, 0.5 - 0.5 * value, 0.5 * value)
    return dnp.where(z < 0, low, 1.0 - low)


def _log_below(z: Any, df: Any) -> Any:
    part, rest = _parts(z, df)
    tail = log_betainc(0.5 * df, lax.full_like(df, 0.5), rest, part) - log(2)
    return dnp.where(z < 0, tail, lax.log1p(-lax.exp(tail)))


def _quantiles(q: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    return t(q, df, loc, scale)


def _in_q(z: Any, q: Any, df: Any) -> Any:
    return lax.exp(-_log_density(z, df))


def _in_df(z: Any, q: Any, df: Any) -> Any:
    """The derivative in ``df``, from the left tail, where it is accurate."""
    still = (z == 0) | dnp.isinf(z)
    left = -lax.abs(dnp.where(still, 1.0, z))
    slope = -slope_of(_below, left, df, argnum=1) * _in_q(left, q, df)
    return dnp.where(still, 0.0, dnp.where(z < 0, slope, -slope))


@differentiable(_in_q, _in_df)
def _inverse(q: Any, df: Any) -> Any:
    """The quantile, from the odds of ``df / (df + t**2)``, which has a beta distribution."""
    tail = dnp.where(q < 0.5, q, 1.0 - q)
    middle, half = tail == 0.5, 0.5 * df
    tail = dnp.where(middle, 0.25, tail)
    p, rest, one = 2.0 * tail, (1.0 - tail) - tail, lax.full_like(df, 0.5)
    log_odds = log_beginning(half, one, p, rest)
    # Where the odds underflow, their root does not.
    tiny = log_odds < log(float(np.finfo(q.dtype).tiny)) + 4.0
    odds = inverse_odds(half, one, dnp.where(tiny, 0.5, p), dnp.where(tiny, 0.5, rest))
    far = lax.exp(-0.5 * dnp.where(tiny, log_odds, 0.0))
    z = lax.sqrt(df) * dnp.where(tiny, far, lax.rsqrt(odds))
    z = dnp.where(df == np.inf, -ndtri(tail), z)
    return dnp.where(middle, 0.0, dnp.where(q < 0.5, -z, z))


_t = Continuous(t, valid=lambda df: df > 0)
logpdf, pdf = _t.densities(_log_density)
cdf = _t.cdf(lambda z, df: _below(z, df))
logcdf = _t.logcdf(lambda z, df: _log_below(z, df))
sf = _t.sf(lambda z, df: _below(-z, df))
logsf = _t.logsf(lambda z, df: _log_below(-z, df))
ppf = _t.quantiles(_quantiles).ppf(_inverse)
isf = _t.quantiles(_quantiles).isf(lambda q, df: -_inverse(q, df))
