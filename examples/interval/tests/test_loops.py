"""Loops that a part of a set of values leaves early: what may have left is collected."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail_core import SetCarrier, ShapedArray, algebra, lift_call, stage_closed
from dovetail_core.testing.toy import add_p, less_p, mul_p, neg_p, select_p
from dovetail_core.testing.toy_control import call_p, cond_p, while_p
from dovetail_core.types.algebra import _provider

f32 = np.float32
F32 = ShapedArray((), np.float32)


class ToyAlgebra:
    add = staticmethod(add_p.bind)
    less = staticmethod(less_p.bind)
    select = staticmethod(select_p.bind)


@pytest.fixture(autouse=True)
def toy_algebra():
    _provider[:] = [ToyAlgebra()]  # type: ignore[list-item]
    yield
    _provider.clear()


@pytest.fixture
def sets(carriers):
    class Sets(carriers.Intervals):
        """Bounds as sets of numbers."""

        key = "sets"
        patience = 20

        def choose(self, index, cases):
            return carriers.decide(index, *cases, carriers.hull(*cases))

        def union(self, a, b):
            return carriers.hull(a, b)

        def anything(self, aval):
            return carriers.Interval(f32(-np.inf), f32(np.inf))

    return Sets()


@pytest.fixture
def bounds(sets, carriers):
    def run(f, *pairs):
        args = [carriers.Interval(f32(lo), f32(hi)) for lo, hi in pairs]
        return [(float(b.lo), float(b.hi)) for b in lift_call(sets, f, args)]

    return run


def program(f, n=1):
    return stage_closed(f, [F32] * n)


def loop(condition, body, n=1):
    cond, step = program(condition, n), program(body, n)
    return lambda *xs: while_p.bind(*xs, cond=cond, body=step)


def below(limit):
    return lambda x: [less_p.bind(x, f32(limit))]


def test_the_protocol_is_recognised(sets, carriers):
    assert isinstance(sets, SetCarrier)
    assert not isinstance(carriers.Intervals(), SetCarrier)
    assert algebra().less(f32(1), f32(2))


def test_what_leaves_at_different_times_is_joined(bounds):
    double = loop(below(3), lambda x: [mul_p.bind(x, f32(2))])
    # 2 to 4, after two steps, may be below 3 or not; 4 to 8, after three, surely is not.
    assert bounds(double, (0.5, 1.0)) == [(2.0, 8.0)]
    assert bounds(double, (0.8, 1.4)) == [(pytest.approx(3.2), pytest.approx(5.6))]
    assert bounds(double, (3.5, 4.0)) == [(3.5, 4.0)]


def test_what_has_left_does_not_run_on(bounds):
    # If bounds of everything were carried as one value, it would stay below 10 for ever.
    grow = loop(below(10), lambda x: [add_p.bind(x, f32(0.75))])
    assert bounds(grow, (0.0, 1.0)) == [(9.0, 11.5)]  # 9 to 10, 9.75 to 10.75, 10.5 to 11.5


def test_a_counter_stays_known_inside_of_the_loop(bounds):
    def body(i, x):
        return [add_p.bind(i, f32(1)), mul_p.bind(x, f32(2))]

    f = loop(lambda i, x: [less_p.bind(x, f32(3))], body, 2)
    assert bounds(lambda x: f(f32(0), x), (0.5, 1.0)) == [(2.0, 3.0), (2.0, 8.0)]


def test_a_surely_endless_part_is_given_up(bounds):
    """x = -x may go on for ever: after ``patience`` steps nothing is known."""
    flip = loop(below(0), lambda x: [neg_p.bind(x)])
    assert bounds(flip, (-2.0, -1.0)) == [(1.0, 2.0)]
    assert bounds(flip, (-2.0, 1.0)) == [(-np.inf, np.inf)]


def test_certain_iterations_need_no_patience(bounds):
    count = loop(below(100), lambda x: [add_p.bind(x, f32(1))])
    assert bounds(count, (0.25, 0.75)) == [(100.25, 100.75)]
    assert bounds(count, (0.0, 1.0)) == [(99.0, 101.0)]  # 99 to 100 may leave


def test_loops_in_branches_in_loops(bounds):
    inner = loop(below(1), lambda x: [mul_p.bind(x, f32(2))])
    branches = (program(inner), program(lambda x: [add_p.bind(x, f32(1))]))
    outer = loop(below(5), lambda x: cond_p.bind(np.int32(1), x, branches=branches))
    f = program(lambda x: outer(*cond_p.bind(np.int32(0), x, branches=branches)))
    ((lo, hi),) = bounds(lambda x: call_p.bind(x, program=f), (0.3, 0.6))
    values = []
    for x in np.linspace(0.3, 0.6, 31, dtype=f32):
        values.append(float(call_p.bind(x, program=f)[0]))
    assert lo <= min(values) and max(values) <= hi and hi < 8


def test_lifted_loops_are_kept_with_the_program(bounds, sets):
    cond = program(below(3))
    body = program(lambda x: [mul_p.bind(x, f32(2))])
    f = lambda x: while_p.bind(x, cond=cond, body=body)  # noqa: E731
    first = bounds(f, (0.5, 1.0))
    kept = {**cond.cache}, {**body.cache}
    assert bounds(f, (0.5, 1.0)) == first
    assert (cond.cache, body.cache) == kept
