"""The beta-binomial distribution: binomial, with a probability drawn from beta's."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax

from ..arguments import ArrayLike
from ..special import betaln
from .families import Arguments, Discrete

__all__ = ["logpmf", "pmf"]


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


_betabinom = Discrete(betabinom, low=0.0, high=lambda n, a, b: n, valid=_valid)
logpmf, pmf = _betabinom.masses(_log_mass)
