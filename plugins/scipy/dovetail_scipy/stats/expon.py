"""The exponential distribution: of the time until an event of rate ``1 / scale``."""

from __future__ import annotations

import dovetail_lax as lax

from ..arguments import ArrayLike
from ..special.series import log1p
from .families import Arguments, Continuous, log_probability

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def expon(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    """the exponential distribution"""
    return Arguments(x, (), loc, scale)


def _quantiles(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    return expon(q, loc, scale)


_expon = Continuous(expon, low=0.0)
logpdf, pdf = _expon.densities(lambda z: -z)
cdf = _expon.cdf(lambda z: -lax.expm1(-z))
logcdf = _expon.logcdf(lambda z: log_probability(-lax.expm1(-z), lax.exp(-z)))
sf = _expon.sf(lambda z: lax.exp(-z))
logsf = _expon.logsf(lambda z: -z)
ppf = _expon.quantiles(_quantiles).ppf(lambda q: -log1p(-q))
isf = _expon.quantiles(_quantiles).isf(lambda q: -lax.log(q))
