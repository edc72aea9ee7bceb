"""Inverses of distribution functions: roots of increasing functions of positive numbers.

Halley's method is applied to the logarithm of the smaller tail as a function of log(x). In these
variables both ends of the distributions that are inverted here are nearly straight lines, which the
method solves at once, and small tails are accurate. A bracket limits steps that are too long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..series import epsilon

_LIMIT = 100
Measure = Callable[[Any], tuple[Any, Any, Any, Any]]
"""A function of x: both tails, the derivative of the lower one in log(x), that of its logarithm."""


def solve(measure: Measure, start: Any, p: Any, q: Any) -> Any:
    """The ``x > 0`` with probability ``p`` below it, and ``q = 1 - p`` above it.

    Subnormal numbers and 0 are not searched for: there the result is ``start``.
    """
    lower = p < q
    target, sign = dnp.where(lower, p, q), dnp.where(lower, 1.0, -1.0)
    limits = np.finfo(start.dtype)
    least, most = 16.0 * float(limits.tiny), float(limits.max) / 16.0
    enough = 0.1 * epsilon(start) ** 0.5  # the next step would be its square, at most

    def going(state: Any) -> Any:
        return dnp.logical_and(state[0] < _LIMIT, dnp.any(state[-1]))

    def step(state: Any) -> Any:
        n, x, low, high, active = state
        below, above, density, bend = measure(x)
        tail = dnp.where(lower, below, above)
        miss, slope = sign * lax.log(tail / target), density / tail
        low, high = dnp.where(miss < 0, x, low), dnp.where(miss < 0, high, x)
        newton = miss / slope
        curve = 0.5 * newton * (bend - sign * slope)
        # From the right of the root of a convex function steps are long.
        move = lax.clamp(-3.0, newton / lax.clamp(0.5, 1.0 - curve, 2.0), 100.0)
        move = dnp.where(tail > 0, move, -sign)  # a tail that underflows is far on
        new = x * lax.exp(-move)
        bracketed = dnp.logical_and(new > low, new < high)
        new = dnp.where(bracketed, new, lax.sqrt(low) * lax.sqrt(high))
        unfinished = dnp.logical_and(active, dnp.logical_not(lax.abs(move) < enough))
        # At the limit of precision a small step may leave the bracket: then it is the last.
        last = dnp.logical_and(lax.abs(move) < enough, dnp.logical_not(bracketed))
        new = dnp.where(dnp.logical_and(active, dnp.logical_not(last)), new, x)
        return n + 1.0, new, low, high, dnp.logical_and(unfinished, new == new)

    x = lax.clamp(least, start, most)
    low, high = lax.full_like(x, least), lax.full_like(x, most)
    x = lax.while_loop(going, step, (x.dtype.type(0), x, low, high, x == start))[1]
    return dnp.where(start == lax.clamp(least, start, most), x, start)
