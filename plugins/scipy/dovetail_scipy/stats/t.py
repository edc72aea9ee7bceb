"""Student's t distribution: of a normal mean over its estimated error."""

from __future__ import annotations

from math import log
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..arguments import ArrayLike
from ..special import betainc, betaln
from .families import Arguments, Continuous
from .tails import log_betainc

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def t(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    """Student's t distribution of ``df`` degrees of freedom"""
    return Arguments(x, (df,), loc, scale)


def _log_density(z: Any, df: Any) -> Any:
    # The square of a large argument overflows: beside it 1 is nothing.
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


_t = Continuous(t, valid=lambda df: df > 0)
logpdf, pdf = _t.densities(_log_density)
cdf = _t.cdf(lambda z, df: _below(z, df))
logcdf = _t.logcdf(lambda z, df: _log_below(z, df))
sf = _t.sf(lambda z, df: _below(-z, df))
logsf = _t.logsf(lambda z, df: _log_below(-z, df))
