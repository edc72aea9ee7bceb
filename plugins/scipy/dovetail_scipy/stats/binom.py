"""The binomial distribution: of the number of successes in ``n`` trials."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax

from ..arguments import ArrayLike
from ..special import betainc
from .families import Arguments, Discrete
from .saddle_points import log_binomial
from .tails import log_betainc

__all__ = ["cdf", "logcdf", "logpmf", "logsf", "pmf", "sf"]


def binom(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Arguments:
    """the binomial distribution of ``n`` trials with probability ``p``"""
    return Arguments(k, (n, p), loc)


def _valid(n: Any, p: Any) -> Any:
    return (n >= 0) & (lax.floor(n) == n) & (p >= 0) & (p <= 1)


_binom = Discrete(binom, low=0.0, high=lambda n, p: n, valid=_valid)
logpmf, pmf = _binom.masses(log_binomial)
cdf = _binom.cdf(lambda k, n, p: betainc(n - k, k + 1.0, 1.0 - p))
logcdf = _binom.logcdf(lambda k, n, p: log_betainc(n - k, k + 1.0, 1.0 - p, p))
sf = _binom.sf(lambda k, n, p: betainc(k + 1.0, n - k, p))
logsf = _binom.logsf(lambda k, n, p: log_betainc(k + 1.0, n - k, p, 1.0 - p))
