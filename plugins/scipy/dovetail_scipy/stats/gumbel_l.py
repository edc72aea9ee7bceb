"""The Gumbel distribution of the smallest of many numbers."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_nn import log1mexp

from ..arguments import ArrayLike
from .families import Arguments, Continuous

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def gumbel_l(x: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    """the left-skewed Gumbel distribution"""
    return Arguments(x, (), loc, scale)


def _quantiles(p: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    return gumbel_l(p, loc, scale)


def log_rare(z: Any) -> Any:
    """``log(1 - exp(-exp(z)))``, also where ``exp(z)`` is small or underflows."""
    small = z < -10
    x = lax.exp(z)
    return dnp.where(small, z - x * (0.5 - x / 24), log1mexp(lax.exp(dnp.where(small, 0.0, z))))


_gumbel_l = Continuous(gumbel_l)
logpdf, pdf = _gumbel_l.densities(lambda z: z - lax.exp(z))
cdf = _gumbel_l.cdf(lambda z: -lax.expm1(-lax.exp(z)))
logcdf = _gumbel_l.logcdf(log_rare)
sf = _gumbel_l.sf(lambda z: lax.exp(-lax.exp(z)))
logsf = _gumbel_l.logsf(lambda z: -lax.exp(z))
ppf = _gumbel_l.quantiles(_quantiles).ppf(lambda p: lax.log(-lax.log1p(-p)))
isf = _gumbel_l.quantiles(_quantiles).isf(lambda p: lax.log(-lax.log(p)))
