"""A step length that satisfies the strong conditions of Wolfe."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp

from .problems import Objective, Point, choose

DECREASE, CURVATURE = 1e-4, 0.9
"""How much of the decrease that the slope promises must come, and of the slope may remain."""


class Trial(NamedTuple):
    """A step length, the function there and its slope along the direction."""

    step: Any
    value: Any
    slope: Any


class Search(NamedTuple):
    """The state of a search. Steps between ``low`` and ``high`` include good ones; ``high`` is
    infinite until a step has gone too far, and ``low`` is the best step so far."""

    low: Trial
    high: Trial
    point: Point  # at the step ``low``
    done: Any
    count: Any


def line_search(f: Objective, start: Point, direction: Any, first: Any, most: int) -> Search:
    """Search along ``direction``, a descent, from ``start``; ``first`` is the step to begin with.

    This is the search of Nocedal and Wright (Numerical Optimization, algorithms 3.5 and 3.6) as
    one loop: while nothing bounds the step from above it is doubled, then it is interpolated. Near
    a minimum, where differences of values are rounding alone, slopes tell whether a step is good
    (as Hager and Zhang propose).

    Returns: the last state. ``point`` is the best one; the search may have failed all the same to
    find a step that is ``done`` within ``most`` trials.
    """
    slope = lax.dot(start.gradient, direction)
    zero, infinite = lax.full_like(slope, 0), lax.full_like(slope, np.inf)
    rounding = dnp.abs(start.value) * float(dnp.finfo(slope.dtype).eps)

    def goes_on(s: Search) -> Any:
        apart = lax.ne(s.low.step, s.high.step)
        return ~s.done & (s.count < most) & apart

    def trial(s: Search) -> Search:
        step = dnp.where(s.count == 0, first, _next_step(s))
        point = f(start.x + step * direction)
        at = Trial(step, point.value, lax.dot(point.gradient, direction))
        enough = at.value <= start.value + DECREASE * step * slope
        flat = (at.value <= start.value + rounding) & (at.slope <= (2 * DECREASE - 1) * slope)
        good = (enough & (at.value < s.low.value)) | flat
        done = good & (dnp.abs(at.slope) <= -CURVATURE * slope)
        # The minimum is behind this step, seen from the best one: there the bracket ends.
        turn = at.slope * (s.high.step - s.low.step) >= 0
        high = choose(good, choose(turn, s.low, s.high), at)
        low, kept = choose(good, at, s.low), choose(good, point, s.point)
        return Search(low, high, kept, done, s.count + 1)

    none = Trial(zero, start.value, slope)
    false = lax.full_like(zero, False, bool)
    return lax.while_loop(
        goes_on, trial, Search(none, Trial(infinite, infinite, zero), start, false, 0)
    )


def _next_step(s: Search) -> Any:
    """The minimum of the cubic through both ends of the bracket, not too near to either; the middle
    where there is none."""
    low, high = s.low, s.high
    width = high.step - low.step
    d1 = low.slope + high.slope - 3 * (high.value - low.value) / width
    root = dnp.sqrt(dnp.maximum(d1 * d1 - low.slope * high.slope, 0))
    d2 = dnp.where(width > 0, root, -root)
    part = 1 - (high.slope + d2 - d1) / (high.slope - low.slope + 2 * d2)
    part = dnp.where((part >= 0.1) & (part <= 0.9), part, dnp.where(part < 0.1, 0.1, 0.5))
    return dnp.where(dnp.isinf(high.step), 2 * low.step, low.step + part * width)
