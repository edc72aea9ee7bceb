"""The beta-binomial distribution: binomial, with a probability drawn from beta's."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_nn import log1mexp

from ..arguments import ArrayLike
from ..special import betaln
from ..special.evaluation import by_forward_mode, differentiable
from ..special.series import epsilon
from .families import Arguments, Discrete

__all__ = ["cdf", "logcdf", "logpmf", "logsf", "pmf", "sf"]
__programs__ = ["logpmf"]


def betabinom(
    k: ArrayLike, n: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0
) -> Arguments:
    """the beta-binomial distribution of ``n`` trials and shape ``a`` and ``b``"""
    return Arguments(k, (n, a, b), loc)


def _valid(n: Any, a: Any, b: Any) -> Any:
    return (n >= 0) & (lax.floor(n) == n) & (a > 0) & (b > 0)


def _log_mass(k: Any, n: Any, a: Any, b: Any) -> Any:
    ways = -lax.log(n + 1.0) - betaln(n - k + 1.0, k + 1.0)
    return ways + betaln(k + a, n - k + b) - betaln(a, b)


def _log_sum(k: Any, n: Any, a: Any, b: Any) -> Any:
    """The logarithm of the probability up to ``k``, from that of ``k`` by the quotients downwards.

    The sum of a distribution with one peak ends when terms are negligible, that of others at 0.
    """
    one_peak = dnp.logical_and(a >= 1.0, b >= 1.0)
    enough = 1e-2 * epsilon(k)

    def going(state: Any) -> Any:
        return dnp.any(state[-1])

    def step(state: Any) -> Any:
        j, term, total, active = state
        quotient = j * (b + n - j) / ((n - j + 1.0) * (a + j - 1.0))
        term = dnp.where(active, term * quotient, 0.0)
        total, falls = total + term, dnp.logical_and(one_peak, quotient < 1.0)
        seen = term > enough * (1.0 - dnp.where(falls, quotient, 0.0)) * total
        seen = dnp.logical_or(seen, dnp.logical_not(falls))
        return j - 1.0, term, total, dnp.logical_and(active, dnp.logical_and(seen, j > 1.0))

    one = lax.full_like(k, 1.0)
    total = lax.while_loop(going, step, (k, one, one, k > 0))[2]
    return _log_mass(k, n, a, b) + lax.log(total)


def _nothing(out: Any, *args: Any) -> Any:
    return lax.full_like(out, 0.0)


_SLOPES = [by_forward_mode(_log_sum, i, 4) for i in (2, 3)]
_log_lower = differentiable(_nothing, _nothing, *_SLOPES)(_log_sum)


def _log_sides(k: Any, n: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """The logarithms of the probabilities up to ``k`` < n, and above, from that of the lesser."""
    lower = k * (a + b) <= n * a
    j, c, d = (dnp.where(lower, u, v) for u, v in ((k, n - k - 1.0), (a, b), (b, a)))
    small = _log_lower(j, n, c, d)
    # By expm1 where it is next to 0: of one trial the lesser part may be nearly all.
    rest = log1mexp(-small)
    return dnp.where(lower, small, rest), dnp.where(lower, rest, small)


_betabinom = Discrete(betabinom, low=0.0, high=lambda n, a, b: n, valid=_valid)
logpmf, pmf = _betabinom.masses(_log_mass)
cdf = _betabinom.cdf(lambda *args: lax.exp(_log_sides(*args)[0]))
logcdf = _betabinom.logcdf(lambda *args: _log_sides(*args)[0])
sf = _betabinom.sf(lambda *args: lax.exp(_log_sides(*args)[1]))
logsf = _betabinom.logsf(lambda *args: _log_sides(*args)[1])
