"""The gamma distribution: of the time until ``a`` events."""

from __future__ import annotations

from typing import Any

import dovetail_numpy as dnp

from ..arguments import ArrayLike
from ..special import gammainc, gammaincc, gammaln, xlogy
from ..special.gamma_family.inverse_gamma import inverse_lower, inverse_upper
from .families import Arguments, Continuous
from .saddle_points import SMALL, log_poisson
from .tails import log_gammainc, log_gammaincc

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def gamma(x: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    """the gamma distribution of shape ``a``"""
    return Arguments(x, (a,), loc, scale)


def _quantiles(q: ArrayLike, a: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    return gamma(q, a, loc, scale)


def log_density(z: Any, a: Any) -> Any:
    """The logarithm of the density of the standard distribution."""
    large = a > SMALL
    small = dnp.where(large, 1.0, a)
    exact = xlogy(small - 1.0, z) - z - gammaln(small)
    count = dnp.where(large, a, SMALL) - 1.0
    return dnp.where(large, log_poisson(count, dnp.where(large, z, 1.0)), exact)


_gamma = Continuous(gamma, low=0.0, valid=lambda a: a > 0)
logpdf, pdf = _gamma.densities(log_density)
cdf = _gamma.cdf(lambda z, a: gammainc(a, z))
logcdf = _gamma.logcdf(lambda z, a: log_gammainc(a, z))
sf = _gamma.sf(lambda z, a: gammaincc(a, z))
logsf = _gamma.logsf(lambda z, a: log_gammaincc(a, z))
ppf = _gamma.quantiles(_quantiles).ppf(lambda q, a: inverse_lower(a, q))
isf = _gamma.quantiles(_quantiles).isf(lambda q, a: inverse_upper(a, q))
