"""The geometric distribution: of the number of the first successful trial."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_nn import log1mexp

from ..arguments import ArrayLike
from ..special import xlog1py
from .counts import before, less, more, probability
from .families import Arguments, Discrete

__all__ = ["cdf", "isf", "logcdf", "logpmf", "logsf", "pmf", "ppf", "sf"]


def geom(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Arguments:
    """the geometric distribution with probability ``p``"""
    return Arguments(k, (p,), loc)


def _quantiles(q: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Arguments:
    return geom(q, p, loc)


def _above(k: Any, p: Any) -> Any:
    return lax.exp(xlog1py(k, -p))


def _below(k: Any, p: Any) -> Any:
    return -lax.expm1(xlog1py(k, -p))


def _inverse(log_sf: Any, p: Any, reached: Callable[[Any], Any]) -> Any:
    """The least count at which the logarithm of the survival function is at most ``log_sf``."""
    log_sf, rate = lax.stop_gradient(log_sf), lax.stop_gradient(lax.log1p(-p))
    k = lax.ceil(log_sf / rate)
    k = dnp.where(k > 1.0, k, 1.0)
    return dnp.where(dnp.logical_and(k > 1.0, reached(k - 1.0)), k - 1.0, k)


def _log_mass(k: Any, p: Any) -> Any:
    return xlog1py(k - 1.0, -p) + lax.log(p)


_geom = Discrete(geom, low=1.0, valid=lambda p: (p > 0) & (p <= 1))
_mass = probability(
    _log_mass, 2, 1, lambda p: p == 1,
    lambda mass, out, k, p: _above(k - 1.0, p) - (k - 1.0) * before(_above, k - 1.0, p),
)  # fmt: skip
logpmf, pmf = _geom.masses(_log_mass, _mass)
cdf = _geom.cdf(_below)
logcdf = _geom.logcdf(lambda k, p: log1mexp(-xlog1py(k, -p)))
sf = _geom.sf(_above)
logsf = _geom.logsf(lambda k, p: xlog1py(k, -p))
ppf = _geom.quantiles(_quantiles).ppf(
    lambda q, p: _inverse(lax.log1p(-q), p, lambda k: _below(k, p) >= less(q))
)
isf = _geom.quantiles(_quantiles).isf(
    lambda q, p: _inverse(lax.log(q), p, lambda k: _above(k, p) <= more(q))
)
