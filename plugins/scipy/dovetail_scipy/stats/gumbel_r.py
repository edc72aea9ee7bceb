"""The Gumbel distribution of the largest of many numbers."""

from __future__ import annotations

import dovetail_lax as lax

from ..arguments import ArrayLike
from .families import Arguments, Continuous
from .gumbel_l import log_rare

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def gumbel_r(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    """the right-skewed Gumbel distribution"""
    return Arguments(x, (), loc, scale)


def _quantiles(p: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    return gumbel_r(p, loc, scale)


_gumbel_r = Continuous(gumbel_r)
logpdf, pdf = _gumbel_r.densities(lambda z: -z - lax.exp(-z))
cdf = _gumbel_r.cdf(lambda z: lax.exp(-lax.exp(-z)))
logcdf = _gumbel_r.logcdf(lambda z: -lax.exp(-z))
sf = _gumbel_r.sf(lambda z: -lax.expm1(-lax.exp(-z)))
logsf = _gumbel_r.logsf(lambda z: log_rare(-z))
ppf = _gumbel_r.quantiles(_quantiles).ppf(lambda p: -lax.log(-lax.log(p)))
isf = _gumbel_r.quantiles(_quantiles).isf(lambda p: -lax.log(-lax.log1p(-p)))
