"""The beta distribution, on the numbers from 0 to 1."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..arguments import ArrayLike
from ..special import betainc, betaln, xlog1py, xlogy
from ..special.gamma_family.inverse_beta import inverse_lower, parts
from .families import Arguments, Continuous
from .saddle_points import SMALL, log_binomial
from .tails import log_betainc

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def beta(
    x: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Arguments:
    """the beta distribution of shape ``a`` and ``b``"""
    return Arguments(x, (a, b), loc, scale)


def _log_density(z: Any, a: Any, b: Any) -> Any:
    large = (a > SMALL) & (b > SMALL)
    s, t = (dnp.where(large, 1.0, v) for v in (a, b))
    exact = xlogy(s - 1.0, z) + xlog1py(t - 1.0, -z) - betaln(s, t)
    hits, misses = (dnp.where(large, v, SMALL) - 1.0 for v in (a, b))
    total = hits + misses
    many = log_binomial(hits, total, dnp.where(large, z, 0.5)) + lax.log(total + 1.0)
    return dnp.where(large, many, exact)


def _quantiles(
    q: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1
) -> Arguments:
    return beta(q, a, b, loc, scale)


_beta = Continuous(beta, low=0.0, high=1.0, valid=lambda a, b: (a > 0) & (b > 0))
logpdf, pdf = _beta.densities(_log_density)
cdf = _beta.cdf(lambda z, a, b: betainc(a, b, z))
logcdf = _beta.logcdf(lambda z, a, b: log_betainc(a, b, z, 1.0 - z))
sf = _beta.sf(lambda z, a, b: betainc(b, a, 1.0 - z))
logsf = _beta.logsf(lambda z, a, b: log_betainc(b, a, 1.0 - z, z))
ppf = _beta.quantiles(_quantiles).ppf(lambda q, a, b: parts(inverse_lower(a, b, q))[0])
isf = _beta.quantiles(_quantiles).isf(lambda q, a, b: parts(inverse_lower(b, a, q))[1])
