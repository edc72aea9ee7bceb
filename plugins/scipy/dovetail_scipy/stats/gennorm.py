"""The generalized normal distribution, with the exponent ``abs(x) ** beta``."""

from __future__ import annotations

from math import log
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..arguments import ArrayLike
from ..special import gammaincc, gammaln
from .families import Arguments, Continuous
from .tails import log_gammaincc

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def gennorm(x: ArrayLike, beta: ArrayLike) -> Arguments:
    """the generalized normal distribution with exponent ``beta``"""
    return Arguments(x, (beta,))


def _power(z: Any, beta: Any) -> Any:
    zero = z == 0
    return dnp.where(zero, 0.0, lax.pow(lax.abs(dnp.where(zero, 1.0, z)), beta))


def _log_density(z: Any, beta: Any) -> Any:
    return lax.log(0.5 * beta) - gammaln(1.0 / beta) - _power(z, beta)


def _below(z: Any, beta: Any) -> Any:
    tail = 0.5 * gammaincc(1.0 / beta, _power(z, beta))
    return dnp.where(z < 0, tail, 1.0 - tail)


def _log_below(z: Any, beta: Any) -> Any:
    tail = log_gammaincc(1.0 / beta, _power(z, beta)) - log(2)
    return dnp.where(z < 0, tail, lax.log1p(-lax.exp(tail)))


_gennorm = Continuous(gennorm, valid=lambda beta: beta > 0)
logpdf, pdf = _gennorm.densities(_log_density)
cdf = _gennorm.cdf(_below)
logcdf = _gennorm.logcdf(_log_below)
sf = _gennorm.sf(lambda z, beta: _below(-z, beta))
logsf = _gennorm.logsf(lambda z, beta: _log_below(-z, beta))
