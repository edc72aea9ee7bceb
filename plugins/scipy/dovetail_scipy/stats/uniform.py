"""The uniform distribution, from ``loc`` to ``loc + scale``."""

from __future__ import annotations

import dovetail_lax as lax

from ..arguments import ArrayLike
from .families import Arguments, Continuous

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def uniform(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    """the uniform distribution"""
    return Arguments(x, (), loc, scale)


def _quantiles(q: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    return uniform(q, loc, scale)


_uniform = Continuous(uniform, low=0.0, high=1.0)
logpdf, pdf = _uniform.densities(lambda z: 0.0 * z)
cdf = _uniform.cdf(lambda z: z)
logcdf = _uniform.logcdf(lax.log)
sf = _uniform.sf(lambda z: 1.0 - z)
logsf = _uniform.logsf(lambda z: lax.log1p(-z))
ppf = _uniform.quantiles(_quantiles).ppf(lambda q: q)
isf = _uniform.quantiles(_quantiles).isf(lambda q: 1.0 - q)
