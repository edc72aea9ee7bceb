"""The chi-squared distribution: of the sum of squares of normal numbers."""

from __future__ import annotations

from math import log

from ..arguments import ArrayLike
from ..special import gammainc, gammaincc
from ..special.gamma_family.inverse_gamma import inverse_lower, inverse_upper
from .families import Arguments, Continuous
from .gamma import log_density
from .tails import log_gammainc, log_gammaincc

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def chi2(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    """the chi-squared distribution of ``df`` degrees of freedom"""
    return Arguments(x, (df,), loc, scale)


def _quantiles(q: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Arguments:
    return chi2(q, df, loc, scale)


_chi2 = Continuous(chi2, low=0.0, valid=lambda df: df > 0)
logpdf, pdf = _chi2.densities(lambda z, df: log_density(0.5 * z, 0.5 * df) - log(2))
cdf = _chi2.cdf(lambda z, df: gammainc(0.5 * df, 0.5 * z))
logcdf = _chi2.logcdf(lambda z, df: log_gammainc(0.5 * df, 0.5 * z))
sf = _chi2.sf(lambda z, df: gammaincc(0.5 * df, 0.5 * z))
logsf = _chi2.logsf(lambda z, df: log_gammaincc(0.5 * df, 0.5 * z))
ppf = _chi2.quantiles(_quantiles).ppf(lambda q, df: 2.0 * inverse_lower(0.5 * df, q))
isf = _chi2.quantiles(_quantiles).isf(lambda q, df: 2.0 * inverse_upper(0.5 * df, q))
