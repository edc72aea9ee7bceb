"""Loops that a part of a set of values leaves early: what may have left is collected."""

from __future__ import annotations

import numpy as np
import pytest
from acme_interval import interval

from dovetail import lax

f32 = np.float32


def bounds(f, lo, hi):
    low, high = interval(f, patience=20)(f32(lo), f32(hi))
    return float(low), float(high)


def below(limit):
    return lambda x: x < limit


def double(x):
    return lax.while_loop(below(3.0), lambda x: x * 2.0, x)


def test_what_leaves_at_different_times_is_joined():
    # 2 to 4, after two steps, may be below 3 or not; 4 to 8, after three, surely is not.
    assert bounds(double, 0.5, 1.0) == (2.0, 8.0)
    assert bounds(double, 0.8, 1.4) == (pytest.approx(3.2), pytest.approx(5.6))
    assert bounds(double, 3.5, 4.0) == (3.5, 4.0)


def test_what_has_left_does_not_run_on():
    # If bounds of everything were carried as one value, it would stay below 10 for ever.
    grow = lambda x: lax.while_loop(below(10.0), lambda x: x + 0.75, x)  # noqa: E731
    assert bounds(grow, 0.0, 1.0) == (9.0, 11.5)  # 9 to 10, 9.75 to 10.75, 10.5 to 11.5


def test_a_counter_stays_known_inside_of_the_loop():
    def f(x):
        return lax.while_loop(lambda s: s[1] < 3.0, lambda s: (s[0] + 1, s[1] * 2.0), (f32(0), x))

    low, high = interval(f, patience=20)(f32(0.5), f32(1.0))
    assert (float(low[0]), float(high[0])) == (2.0, 3.0)
    assert (float(low[1]), float(high[1])) == (2.0, 8.0)


def test_a_surely_endless_part_is_given_up():
    """x = -x may go on for ever: after ``patience`` steps nothing is known."""
    flip = lambda x: lax.while_loop(below(0.0), lambda x: -x, x)  # noqa: E731
    assert bounds(flip, -2.0, -1.0) == (1.0, 2.0)
    assert bounds(flip, -2.0, 1.0) == (-np.inf, np.inf)


def test_certain_iterations_need_no_patience():
    count = lambda x: lax.while_loop(below(100.0), lambda x: x + 1.0, x)  # noqa: E731
    assert bounds(count, 0.25, 0.75) == (100.25, 100.75)
    assert bounds(count, 0.0, 1.0) == (99.0, 101.0)  # 99 to 100 may leave


def test_loops_in_branches_in_loops():
    def f(x):
        inner = lambda x: lax.while_loop(below(1.0), lambda x: x * 2.0, x)  # noqa: E731
        x = lax.cond(x < 10.0, inner, lambda x: x + 1.0, x)
        step = lambda x: lax.cond(x < 0.0, inner, lambda x: x + 1.0, x)  # noqa: E731
        return lax.while_loop(below(5.0), step, x)

    lo, hi = bounds(f, 0.3, 0.6)
    values = [float(f(x)) for x in np.linspace(0.3, 0.6, 31, dtype=f32)]
    assert lo <= min(values) and max(values) <= hi and hi < 8
