"""The Pareto distribution: of powers, above ``scale``."""

from __future__ import annotations

import dovetail_lax as lax
from dovetail_nn import log1mexp

from ..arguments import ArrayLike
from .families import Arguments, Continuous

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def pareto(x: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    """the Pareto distribution with exponent ``b``"""
    return Arguments(x, (b,), loc, scale)


def _quantiles(q: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    return pareto(q, b, loc, scale)


_pareto = Continuous(pareto, low=1.0, valid=lambda b: b > 0)
logpdf, pdf = _pareto.densities(lambda z, b: lax.log(b) - (b + 1.0) * lax.log(z))
cdf = _pareto.cdf(lambda z, b: -lax.expm1(-b * lax.log(z)))
logcdf = _pareto.logcdf(lambda z, b: log1mexp(b * lax.log(z)))
sf = _pareto.sf(lambda z, b: lax.exp(-b * lax.log(z)))
logsf = _pareto.logsf(lambda z, b: -b * lax.log(z))
ppf = _pareto.quantiles(_quantiles).ppf(lambda q, b: lax.exp(lax.log1p(-q) / -b))
isf = _pareto.quantiles(_quantiles).isf(lambda q, b: lax.exp(lax.log(q) / -b))
