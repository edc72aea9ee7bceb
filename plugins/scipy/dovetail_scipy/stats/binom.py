"""The binomial distribution: of the number of successes in ``n`` trials."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..arguments import ArrayLike
from ..special import betainc
from .counts import above, before, below, probability
from .families import Arguments, Discrete
from .saddle_points import log_binomial
from .tails import log_betainc

__all__ = ["cdf", "isf", "logcdf", "logpmf", "logsf", "pmf", "ppf", "sf"]


def binom(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Arguments:
    """the binomial distribution of ``n`` trials with probability ``p``"""
    return Arguments(k, (n, p), loc)


def _valid(n: Any, p: Any) -> Any:
    return (n >= 0) & (lax.floor(n) == n) & (p >= 0) & (p <= 1)


def _quantiles(q: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Arguments:
    return binom(q, n, p, loc)


def _moments(n: Any, p: Any) -> tuple[Any, Any, Any]:
    return n * p, lax.sqrt(n * p * (1.0 - p)), 1.0 - 2.0 * p


def _below(k: Any, n: Any, p: Any) -> Any:
    return betainc(n - k, k + 1.0, 1.0 - p)


def _above(k: Any, n: Any, p: Any) -> Any:
    return betainc(k + 1.0, n - k, p)


def _slope_at_ends(mass: Any, out: Any, k: Any, n: Any, p: Any) -> Any:
    rest = dnp.where(n > 0, n - 1.0, 0.0)
    still = dnp.where(k < n, mass(dnp.where(k < n, k, 0.0), rest, p), 0.0)
    return n * (before(mass, k, rest, p) - still)


_binom = Discrete(binom, low=0.0, high=lambda n, p: n, valid=_valid)
_mass = probability(log_binomial, 3, 2, lambda p: (p == 0) | (p == 1), _slope_at_ends)
logpmf, pmf = _binom.masses(log_binomial, _mass)
cdf = _binom.cdf(_below)
logcdf = _binom.logcdf(lambda k, n, p: log_betainc(n - k, k + 1.0, 1.0 - p, p))
sf = _binom.sf(_above)
logsf = _binom.logsf(lambda k, n, p: log_betainc(k + 1.0, n - k, p, 1.0 - p))
ppf = _binom.quantiles(_quantiles).ppf(below(_below, _moments, lambda n, p: n))
isf = _binom.quantiles(_quantiles).isf(above(_above, _moments, lambda n, p: n))
