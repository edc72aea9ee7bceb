"""The Bernoulli distribution: of one trial."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..arguments import ArrayLike
from ..special import xlog1py, xlogy
from .counts import probability
from .families import Arguments, Discrete

__all__ = ["cdf", "isf", "logcdf", "logpmf", "logsf", "pmf", "ppf", "sf"]


def bernoulli(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Arguments:
    """the Bernoulli distribution with probability ``p``"""
    return Arguments(k, (p,), loc)


def _cumulative(k: ArrayLike, p: ArrayLike) -> Arguments:
    """the Bernoulli distribution with probability ``p``"""
    return bernoulli(k, p)


def _quantiles(q: ArrayLike, p: ArrayLike) -> Arguments:
    """the Bernoulli distribution with probability ``p``"""
    return bernoulli(q, p)


class _FromZero(Discrete[...]):
    """A family whose quantile of 0 is 0, as in JAX."""

    def ends(self, shapes: Any) -> Any:
        return self.support(shapes)


def _log_mass(k: Any, p: Any) -> Any:
    return xlogy(k, p) + xlog1py(1.0 - k, -p)


_bernoulli = Discrete(bernoulli, 0.0, 1.0, lambda p: (p >= 0) & (p <= 1))
_below = _FromZero(_cumulative, 0.0, 1.0, lambda p: (p >= 0) & (p <= 1))
_mass = probability(
    _log_mass, 2, 1, lambda p: (p == 0) | (p == 1),
    lambda mass, out, k, p: dnp.where(k > 0, 1.0, -1.0),
)  # fmt: skip
logpmf, pmf = _bernoulli.masses(_log_mass, _mass)
cdf = _below.cdf(lambda k, p: 1.0 - p)
logcdf = _below.logcdf(lambda k, p: lax.log1p(-p))
sf = _below.sf(lambda k, p: p)
logsf = _below.logsf(lambda k, p: lax.log(p))
ppf = _below.quantiles(_quantiles).ppf(lambda q, p: dnp.where(q <= 1.0 - p, 0.0, 1.0))
isf = _below.quantiles(_quantiles).isf(lambda q, p: dnp.where(q >= p, 0.0, 1.0))
