"""The Poisson distribution: of the number of rare events."""

from __future__ import annotations

from math import e, pi
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..arguments import ArrayLike
from ..special import gammainc, gammaincc
from .counts import above, before, below, probability
from .families import Arguments, Discrete, publish
from .saddle_points import log_poisson
from .tails import log_gammainc, log_gammaincc

__all__ = ["cdf", "entropy", "isf", "logcdf", "logpmf", "logsf", "pmf", "ppf", "sf"]
__programs__ = ["entropy"]


def poisson(k: ArrayLike, mu: ArrayLike, loc: ArrayLike = 0) -> Arguments:
    """the Poisson distribution of mean ``mu``"""
    return Arguments(k, (mu,), loc)


def _mean(mu: ArrayLike, loc: ArrayLike = 0) -> Arguments:
    """the Poisson distribution of mean ``mu``"""
    return Arguments(mu, ())


def _log(f: Any, k: Any, mu: Any, certain: float) -> Any:
    """The logarithm of an incomplete gamma function; ``certain`` where all events are at 0."""
    none = mu == 0
    return dnp.where(none, certain, f(k + 1.0, dnp.where(none, 1.0, mu)))


_LARGE, _TERMS = 50.0, 150
"""The mean from which the asymptotic series serves, and the terms of the sum below."""


def _entropy(mu: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    large = mu > _LARGE
    inverse = 1.0 / dnp.where(large, mu, 1.0)
    series = inverse * (1 / 12 + inverse * (1 / 24 + inverse * (19 / 360 + inverse * (9 / 80))))
    far = 0.5 * lax.log(2 * pi * e * dnp.where(large, mu, 1.0)) - series
    mean = dnp.where(large, 1.0, mu)[..., None]
    logs = log_poisson(*dnp.broadcast_arrays(np.arange(_TERMS, dtype=mu.dtype), mean))
    seen = dnp.isfinite(logs)
    logs = dnp.where(seen, logs, 0.0)
    near = -dnp.sum(dnp.where(seen, lax.exp(logs) * logs, 0.0), -1)
    return dnp.where(mu < 0, np.nan, dnp.where(large, far, near))


def _quantiles(q: ArrayLike, mu: ArrayLike, loc: ArrayLike = 0) -> Arguments:
    return poisson(q, mu, loc)


def _moments(mu: Any) -> tuple[Any, Any, Any]:
    return mu, lax.sqrt(mu), lax.full_like(mu, 1.0)


def _below(k: Any, mu: Any) -> Any:
    return gammaincc(k + 1.0, mu)


def _above(k: Any, mu: Any) -> Any:
    return gammainc(k + 1.0, mu)


_poisson = Discrete(poisson, low=0.0, valid=lambda mu: mu >= 0)
_mass = probability(
    log_poisson, 2, 1, lambda mu: mu == 0, lambda mass, out, k, mu: before(mass, k, mu) - out
)
logpmf, pmf = _poisson.masses(log_poisson, _mass)
cdf = _poisson.cdf(_below)
logcdf = _poisson.logcdf(lambda k, mu: _log(log_gammaincc, k, mu, 0.0))
sf = _poisson.sf(_above)
logsf = _poisson.logsf(lambda k, mu: _log(log_gammainc, k, mu, -np.inf))
entropy = publish(_mean, "entropy", "The entropy", Discrete(_mean).standard(_entropy))
ppf = _poisson.quantiles(_quantiles).ppf(below(_below, _moments))
isf = _poisson.quantiles(_quantiles).isf(above(_above, _moments))
