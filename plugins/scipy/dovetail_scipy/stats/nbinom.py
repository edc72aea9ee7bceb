"""The negative binomial distribution: of the number of failures before ``n`` successes."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax

from ..arguments import ArrayLike
from ..special import betainc
from .families import Arguments, Discrete
from .saddle_points import log_binomial
from .tails import log_betainc

__all__ = ["cdf", "logcdf", "logpmf", "logsf", "pmf", "sf"]


def nbinom(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Arguments:
    """the negative binomial distribution of ``n`` successes with probability ``p``"""
    return Arguments(k, (n, p), loc)


def _log_mass(k: Any, n: Any, p: Any) -> Any:
    return log_binomial(n, n + k, p) + lax.log(n / (n + k))


_nbinom = Discrete(nbinom, low=0.0, valid=lambda n, p: (n > 0) & (p > 0) & (p <= 1))
logpmf, pmf = _nbinom.masses(_log_mass)
cdf = _nbinom.cdf(lambda k, n, p: betainc(n, k + 1.0, p))
logcdf = _nbinom.logcdf(lambda k, n, p: log_betainc(n, k + 1.0, p, 1.0 - p))
sf = _nbinom.sf(lambda k, n, p: betainc(k + 1.0, n, 1.0 - p))
logsf = _nbinom.logsf(lambda k, n, p: log_betainc(k + 1.0, n, 1.0 - p, p))
