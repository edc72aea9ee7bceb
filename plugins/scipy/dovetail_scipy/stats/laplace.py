"""The Laplace distribution: exponential on both sides."""

from __future__ import annotations

from math import log
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..arguments import ArrayLike
from .families import Arguments, Continuous

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def laplace(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    """the Laplace distribution"""
    return Arguments(x, (), loc, scale)


def _quantiles(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    return laplace(q, loc, scale)


def _below(z: Any) -> Any:
    half = 0.5 * lax.exp(-lax.abs(z))
    return dnp.where(z < 0, half, 1.0 - half)


def _log_below(z: Any) -> Any:
    return dnp.where(z < 0, z - log(2), lax.log1p(-0.5 * lax.exp(-lax.abs(z))))


def _quantile(q: Any) -> Any:
    lower = q < 0.5
    value = lax.log(2.0 * dnp.where(lower, q, 1.0 - q))
    return dnp.where(lower, value, -value)


_laplace = Continuous(laplace)
logpdf, pdf = _laplace.densities(lambda z: -lax.abs(z) - log(2))
cdf = _laplace.cdf(_below)
logcdf = _laplace.logcdf(_log_below)
sf = _laplace.sf(lambda z: _below(-z))
logsf = _laplace.logsf(lambda z: _log_below(-z))
ppf = _laplace.quantiles(_quantiles).ppf(_quantile)
isf = _laplace.quantiles(_quantiles).isf(lambda q: -_quantile(q))
