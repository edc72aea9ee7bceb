"""The normal distribution."""

from __future__ import annotations

from math import log, pi

from ..arguments import ArrayLike
from ..special import log_ndtr, ndtr, ndtri
from .families import Arguments, Continuous

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def norm(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    """the normal distribution"""
    return Arguments(x, (), loc, scale)


def _quantiles(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    return norm(q, loc, scale)


_norm = Continuous(norm)
logpdf, pdf = _norm.densities(lambda z: -0.5 * (z * z) - 0.5 * log(2 * pi))
cdf = _norm.cdf(ndtr)
logcdf = _norm.logcdf(log_ndtr)
sf = _norm.sf(lambda z: ndtr(-z))
logsf = _norm.logsf(lambda z: log_ndtr(-z))
ppf = _norm.quantiles(_quantiles).ppf(ndtri)
isf = _norm.quantiles(_quantiles).isf(lambda q: -ndtri(q))
