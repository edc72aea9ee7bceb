"""The logistic distribution."""

from __future__ import annotations

import dovetail_lax as lax
from dovetail_nn import softplus

from ..arguments import ArrayLike
from ..special import logit
from .families import Arguments, Continuous

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def logistic(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    """the logistic distribution"""
    return Arguments(x, (), loc, scale)


def _quantiles(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    return logistic(x, loc, scale)


_logistic = Continuous(logistic)
logpdf, pdf = _logistic.densities(lambda z: -lax.abs(z) - 2.0 * softplus(-lax.abs(z)))
cdf = _logistic.cdf(lax.logistic)
logcdf = _logistic.logcdf(lambda z: -softplus(-z))
sf = _logistic.sf(lambda z: lax.logistic(-z))
logsf = _logistic.logsf(lambda z: -softplus(z))
ppf = _logistic.quantiles(_quantiles).ppf(logit)
isf = _logistic.quantiles(_quantiles).isf(lambda q: -logit(q))
