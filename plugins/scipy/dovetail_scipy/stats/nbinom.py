"""The negative binomial distribution: of the number of failures before ``n`` successes."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax

from ..arguments import ArrayLike
from ..special import betainc
from .counts import above, before, below, probability
from .families import Arguments, Discrete
from .saddle_points import log_binomial
from .tails import log_betainc

__all__ = ["cdf", "isf", "logcdf", "logpmf", "logsf", "pmf", "ppf", "sf"]


def nbinom(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Arguments:
    """the negative binomial distribution of ``n`` successes with probability ``p``"""
    return Arguments(k, (n, p), loc)


def _log_mass(k: Any, n: Any, p: Any) -> Any:
    return log_binomial(n, n + k, p) + lax.log(n / (n + k))


def _quantiles(q: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Arguments:
    return nbinom(q, n, p, loc)


def _moments(n: Any, p: Any) -> tuple[Any, Any, Any]:
    return n * (1.0 - p) / p, lax.sqrt(n * (1.0 - p)) / p, (2.0 - p) / p


def _below(k: Any, n: Any, p: Any) -> Any:
    return betainc(n, k + 1.0, p)


def _above(k: Any, n: Any, p: Any) -> Any:
    return betainc(k + 1.0, n, 1.0 - p)


_nbinom = Discrete(nbinom, low=0.0, valid=lambda n, p: (n > 0) & (p > 0) & (p <= 1))
_mass = probability(
    _log_mass, 3, 2, lambda p: p == 1,
    lambda mass, out, k, n, p: n * (out - before(mass, k, n + 1.0, p)),
)  # fmt: skip
logpmf, pmf = _nbinom.masses(_log_mass, _mass)
cdf = _nbinom.cdf(_below)
logcdf = _nbinom.logcdf(lambda k, n, p: log_betainc(n, k + 1.0, p, 1.0 - p))
sf = _nbinom.sf(_above)
logsf = _nbinom.logsf(lambda k, n, p: log_betainc(k + 1.0, n, 1.0 - p, p))
ppf = _nbinom.quantiles(_quantiles).ppf(below(_below, _moments))
isf = _nbinom.quantiles(_quantiles).isf(above(_above, _moments))
