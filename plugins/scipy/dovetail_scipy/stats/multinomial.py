"""The multinomial distribution: of the counts of several outcomes."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import here
from dovetail_jit import fused

from ..arguments import Array, ArrayLike, array, inexact
from .saddle_points import log_poisson

__all__ = ["logpmf", "pmf"]


@fused()
def logpmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """The logarithm of the probability of the multinomial distribution.

    Args:
        x: the count of each outcome, integers along the last axis.
        n: the number of trials, integers.
        p: the probabilities of the outcomes, along the last axis.

    Raises:
        TypeError: an argument is no array.
        ValueError: ``x`` or ``n`` are no integers, or shapes do not broadcast.
    """
    return _log_mass("multinomial.logpmf", x, n, p)


@fused()
def pmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
    """The probability of the multinomial distribution, as :func:`logpmf`."""
    return lax.exp(_log_mass("multinomial.pmf", x, n, p))


def _log_mass(name: str, x: Any, n: Any, p: Any) -> Any:
    counts, trials = array(name, x), array(name, n, 1)
    if counts.dtype.kind not in "iu" or trials.dtype.kind not in "iu":
        raise ValueError(
            f"{name}: x and n must be integers, got {counts.dtype} and {trials.dtype}{here()}"
        )
    (p,) = inexact(name, p)
    seen = counts.sum(-1) == trials
    k, m = counts.astype(p.dtype), trials.astype(p.dtype)
    each = log_poisson(*dnp.broadcast_arrays(k, m[..., None] * p))
    excess = m * (p.sum(-1) - 1.0)  # of the means, by rounding of the probabilities
    out = dnp.where(seen, each.sum(-1) - log_poisson(m, m) + excess, -dnp.inf)
    possible = dnp.all((k >= 0) & (k == lax.floor(k)), -1)
    valid = dnp.all((p >= 0) & (p <= 1), -1) & (m >= 0)
    return dnp.where(valid, dnp.where(possible, out, -dnp.inf), dnp.nan)
