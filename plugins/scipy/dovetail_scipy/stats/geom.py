"""The geometric distribution: of the number of the first successful trial."""

from __future__ import annotations

import dovetail_lax as lax
from dovetail_nn import log1mexp

from ..arguments import ArrayLike
from ..special import xlog1py
from .families import Arguments, Discrete

__all__ = ["cdf", "logcdf", "logpmf", "logsf", "pmf", "sf"]


def geom(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Arguments:
    """the geometric distribution with probability ``p``"""
    return Arguments(k, (p,), loc)


_geom = Discrete(geom, low=1.0, valid=lambda p: (p > 0) & (p <= 1))
logpmf, pmf = _geom.masses(lambda k, p: xlog1py(k - 1.0, -p) + lax.log(p))
cdf = _geom.cdf(lambda k, p: -lax.expm1(xlog1py(k, -p)))
logcdf = _geom.logcdf(lambda k, p: log1mexp(-xlog1py(k, -p)))
sf = _geom.sf(lambda k, p: lax.exp(xlog1py(k, -p)))
logsf = _geom.logsf(lambda k, p: xlog1py(k, -p))
