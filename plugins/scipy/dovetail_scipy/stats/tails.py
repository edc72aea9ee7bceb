"""Logarithms of incomplete gamma and beta functions, also where these underflow.

Far in the tails continued fractions converge fast, and a fixed number of terms will do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..special import betainc, betaln, gammainc, gammaincc, gammaln, xlog1py, xlogy
from .families import log_probability

TERMS = 60


def log_gammainc(a: Any, x: Any) -> Any:
    """``log(gammainc(a, x))`` for positive arguments."""
    value = gammainc(a, x)
    far = _underflows(value)
    s, y = dnp.where(far, a, 2.0), dnp.where(far, x, 1.0)
    total = _from_the_end(lambda n, total: 1.0 + total * (y / (s + n)), lax.full_like(y, 1.0))
    tail = xlogy(s, y) - y - gammaln(s + 1.0) + lax.log(total)
    usual = log_probability(dnp.where(far, 0.5, value), gammaincc(a, x))
    return dnp.where(far, tail, usual)


def log_gammaincc(a: Any, x: Any) -> Any:
    """``log(gammaincc(a, x))`` for positive arguments."""
    value = gammaincc(a, x)
    far = _underflows(value)
    s, y = dnp.where(far, a, 1.0), dnp.where(far, x, 2.0)

    def below(n: Any, rest: Any) -> Any:
        return y + (2.0 * n - 1.0) - s - n * (n - s) / rest

    fraction = _from_the_end(below, y + (2.0 * TERMS + 1.0) - s)
    tail = xlogy(s, y) - y - gammaln(s) - lax.log(fraction)
    usual = log_probability(dnp.where(far, 0.5, value), gammainc(a, x))
    return dnp.where(far, tail, usual)


def log_betainc(a: Any, b: Any, x: Any, y: Any) -> Any:
    """``log(betainc(a, b, x))`` for positive parameters, where ``y`` is ``1 - x``."""
    lower = x * (a + b) <= a  # below the mean, where it is the smaller probability
    value = betainc(dnp.where(lower, a, b), dnp.where(lower, b, a), dnp.where(lower, x, y))
    far = lower & _underflows(value)
    s, t, u = dnp.where(far, a, 1.0), dnp.where(far, b, 1.0), dnp.where(far, x, 0.5)

    def below(m: Any, rest: Any) -> Any:
        odd = -(s + m) * (s + t + m) / ((s + 2.0 * m) * (s + 2.0 * m + 1.0))
        even = m * (t - m) / ((s + 2.0 * m - 1.0) * (s + 2.0 * m))
        return 1.0 + even * u / (1.0 + odd * u / rest)

    last = _from_the_end(below, lax.full_like(u, 1.0))
    first = 1.0 - u * (s + t) / (s + 1.0) / last
    tail = xlogy(s, u) + xlog1py(t, -u) - betaln(s, t) - lax.log(s) - lax.log(first)
    small = lax.log(dnp.where(lower & ~far, value, 0.5))
    usual = dnp.where(lower, small, lax.log1p(-dnp.where(lower, 0.5, value)))
    return dnp.where(far, tail, usual)


def _from_the_end(step: Callable[[Any, Any], Any], rest: Any) -> Any:
    """``step(1, step(2, ... step(TERMS, rest)))``."""
    numbers = np.arange(TERMS, 0, -1).astype(rest.dtype)
    return lax.scan(lambda rest, n: (step(n, rest), None), rest, numbers)[0]


def _underflows(value: Any) -> Any:
    limit = float(dnp.finfo(value.dtype).tiny) / float(dnp.finfo(value.dtype).eps)
    return ~(value >= limit)  # nan, too: of a factor that underflows and one that overflows
