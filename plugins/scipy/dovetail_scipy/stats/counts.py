"""Quantiles of counts: the smallest integer at which a probability is reached.

The search starts at a normal approximation with Cornish and Fisher's term for skewness ("Moments
and cumulants in the specification of distributions", 1937), goes on by steps that double until the
place is between two integers that were seen, and halves these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..special import ndtri

_LIMIT = 200
_ROUNDING = 16
"""How many roundings a probability may lack of the one asked for."""

Standard = Callable[..., Any]
Moments = Callable[..., tuple[Any, Any, Any]]
"""Of the parameters: mean, standard deviation, and the skewness times that."""


def below(cdf: Standard, moments: Moments, high: Standard | None = None) -> Standard:
    """The least count from 0, at most ``high(*shapes)``, of which ``cdf`` is ``q`` at least."""
    return _inverse(lambda k, q, shapes: cdf(k, *shapes) >= less(q), 1, moments, high)


def above(sf: Standard, moments: Moments, high: Standard | None = None) -> Standard:
    """The least count from 0, at most ``high(*shapes)``, of which ``sf`` is ``q`` at most."""
    return _inverse(lambda k, q, shapes: sf(k, *shapes) <= more(q), -1, moments, high)


def less(q: Any) -> Any:
    """``q`` less some roundings, so that a quantile of a computed probability is what it was of."""
    return q * (1.0 - _ROUNDING * float(np.finfo(q.dtype).eps))


def more(q: Any) -> Any:
    """``q`` and some roundings."""
    return q * (1.0 + _ROUNDING * float(np.finfo(q.dtype).eps))


def _inverse(
    reached: Callable[..., Any], sign: int, moments: Moments, high: Standard | None
) -> Standard:
    def inverse(q: Any, *shapes: Any) -> Any:
        q = lax.stop_gradient(q)  # steps have no derivatives
        shapes = tuple(lax.stop_gradient(v) for v in shapes)
        mean, spread, skew = moments(*shapes)
        z = sign * ndtri(q)
        start = lax.floor(mean + spread * z + skew * (z * z - 1.0) / 6.0)
        most = float(np.finfo(q.dtype).max) / 4.0
        last = lax.full_like(q, most) if high is None else high(*shapes)
        stride = lax.floor(1.0 + 0.02 * dnp.where(spread < most, spread, 0.0))
        return _search(lambda k: reached(k, q, shapes), start, stride, last)

    return inverse


def _search(reached: Callable[[Any], Any], start: Any, stride: Any, last: Any) -> Any:
    """The least integer that is ``reached``, from 0; ``last`` is, whatever ``reached`` says."""

    def between(k: Any, low: Any, high: Any) -> Any:
        return dnp.logical_and(k > low, k < high)

    def going(state: Any) -> Any:
        n, k, low, high, _ = state
        return dnp.logical_and(n < _LIMIT, dnp.any(between(k, low, high)))

    def step(state: Any) -> Any:
        n, k, low, high, stride = state
        hit, there = reached(k), between(k, low, high)
        high = dnp.where(dnp.logical_and(there, hit), k, high)
        low = dnp.where(dnp.logical_and(there, dnp.logical_not(hit)), k, low)
        near = dnp.where(hit, k - stride, k + stride)
        middle = lax.floor(low + 0.5 * (high - low))
        return n + 1, dnp.where(between(near, low, high), near, middle), low, high, stride * 2.0

    low = lax.full_like(last, -1.0)
    k = dnp.where(start > 0, lax.min(start, last - 1.0), 0.0)
    return lax.while_loop(going, step, (0, k, low, last, stride))[3]
