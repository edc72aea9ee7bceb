"""Bounds through control flow, for which this plugin has no rule: the kernel derives them."""

from __future__ import annotations

import numpy as np
import pytest
from acme_interval import bounds_rules, interval

import dovetail
from dovetail import lax, numpy as dnp
from dovetail_core import primitives, registry
from dovetail_core.registry.plugins import load_object

f32 = np.float32


def sound(f, lo, hi, n=101):
    """Bounds of a function of one scalar that hold on a grid; returns (bounds, extrema on it)."""
    low, high = interval(f)(f32(lo), f32(hi))
    values = np.asarray([f(x) for x in np.linspace(lo, hi, n, dtype=f32)])
    assert np.all(low <= values.min(0) + 1e-5) and np.all(values.max(0) - 1e-5 <= high)
    return (np.asarray(low), np.asarray(high)), (values.min(0), values.max(0))


def test_no_rule_is_declared_for_control_flow():
    for manifest in registry().active.values():
        for module in manifest.primitives:
            load_object(module)
    for name in ("cond", "while", "scan", "jit", "remat2"):
        primitive = primitives()[name]
        assert primitive.regions is not None and bounds_rules.get(primitive) is not None
        assert bounds_rules.origins[primitive].kind == "derived"


def nested(x):
    """A scan of a cond of a while_loop; which branch is taken and when loops end depends on x."""

    def step(c, t):
        grow = lambda c: lax.while_loop(lambda v: v < 4.0, lambda v: v * 1.5, c)  # noqa: E731
        c = lax.cond(c > 1.0, grow, lambda c: c + t, c)
        return c * 0.5, c

    return lax.scan(step, x, np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], f32))


@pytest.mark.parametrize("lo, hi", [(0.5, 0.7), (0.5, 1.5), (2.0, 9.0), (1.0, 1.0)])
def test_a_scan_of_a_cond_of_a_while_loop(lo, hi):
    f = dovetail.jit(lambda x: dnp.append(*reversed(nested(x))))
    (low, high), (least, greatest) = sound(f, lo, hi)
    assert np.isfinite(low).all() and np.isfinite(high).all()
    if hi - lo < 0.3:  # every predicate is certain, and every step monotone
        np.testing.assert_allclose(low, least, rtol=1e-5)
        np.testing.assert_allclose(high, greatest, rtol=1e-5)


def test_the_same_bounds_through_jit_and_vmap():
    lo, hi = np.array([0.5, 0.5, 2.0], f32), np.array([0.7, 1.5, 9.0], f32)
    one = [interval(nested)(a, b) for a, b in zip(lo, hi)]
    for many in (
        dovetail.vmap(interval(nested)),
        dovetail.jit(dovetail.vmap(interval(dovetail.jit(nested)))),
    ):
        for end, bounds in enumerate(many(lo, hi)):
            for k, b in enumerate(bounds):
                np.testing.assert_allclose(b, np.stack([o[end][k] for o in one]), rtol=1e-5)


def test_bounds_of_a_mapped_loop():
    """It ends for all elements at once: one whose end is uncertain neither stays nor goes on."""
    lo, hi = np.array([0.5, 0.5, 0.6], f32), np.array([0.7, 1.5, 0.65], f32)
    low, high = interval(dovetail.vmap(nested))(lo, hi)
    for i in range(3):
        least, greatest = interval(nested)(lo[i], hi[i])
        for k in range(2):
            if i != 1:
                np.testing.assert_allclose(low[k][i], least[k], rtol=1e-5)
                np.testing.assert_allclose(high[k][i], greatest[k], rtol=1e-5)
            else:
                assert np.all(low[k][i] <= least[k]) and np.all(greatest[k] <= high[k][i])


def test_an_uncertain_predicate_gives_the_hull_of_both_branches():
    f = lambda x: lax.cond(x > 0, lambda x: x + 1, lambda x: x - 2, x)  # noqa: E731
    assert tuple(map(float, interval(f)(f32(1), f32(2)))) == (2, 3)
    assert tuple(map(float, interval(f)(f32(-2), f32(-1)))) == (-4, -3)
    assert tuple(map(float, interval(f)(f32(-1), f32(2)))) == (-3, 3)


def test_an_uncertain_index_gives_the_hull_of_the_branches_that_are_possible():
    f = lambda i: lax.switch(i, [lambda: 1.0, lambda: 5.0, lambda: 2.0, lambda: 9.0])  # noqa: E731
    box = interval(f)
    assert tuple(map(float, box(np.int32(0), np.int32(1)))) == (1, 5)
    assert tuple(map(float, box(np.int32(1), np.int32(2)))) == (2, 5)
    assert tuple(map(float, box(np.int32(2), np.int32(7)))) == (2, 9)
    assert tuple(map(float, box(np.int32(3), np.int32(3) + np.int32(0)))) == (9, 9)


def test_an_uncertain_trip_count():
    f = lambda x: lax.while_loop(lambda v: v < 10, lambda v: v + 0.75, x)  # noqa: E731
    (low, high), _ = sound(f, 0, 1)
    assert (low, high) == (9, 11.5)
    sound(f, 9, 12)
    (low, high), _ = sound(f, 11, 12)
    assert (low, high) == (11, 12)  # no iteration


def test_an_uncertain_number_of_iterations_of_a_for_loop():
    f = lambda n: lax.fori_loop(0, n, lambda i, x: x * 2 + i, 1)  # noqa: E731
    low, high = interval(f)(3, 5)
    assert (int(low), int(high)) == (f(3), f(5))
    low, high = interval(f)(0, 1)
    assert (int(low), int(high)) == (1, 2)


def test_a_counter_is_known_inside_of_an_uncertain_loop():
    """So that it can index an array there."""
    table = np.array([1, 2, 4, 8, 16, 32], f32)

    def f(limit):
        return lax.while_loop(
            lambda s: s[1] < limit, lambda s: (s[0] + 1, s[1] + dnp.asarray(table)[s[0]]), (0, 0.0)
        )

    low, high = interval(f)(f32(2), f32(10))
    assert [int(low[0]), int(high[0])] == [2, 4]
    assert [float(low[1]), float(high[1])] == [3, 15]


def newton(a, maximum=None):
    """The square root and the number of steps."""

    def go_on(s):
        x, n = s
        big = abs(x * x - a) > 1e-4
        return big if maximum is None else big & (n < maximum)

    return lax.while_loop(go_on, lambda s: ((s[0] + a / s[0]) / 2, s[1] + 1), (a, 0))


def test_a_loop_whose_end_never_becomes_certain_terminates():
    """Bounds cannot show that Newton's method converges: nothing is known of its result."""
    low, high = interval(newton)(f32(1), f32(2))
    assert not float(low[0]) > 1 and not float(high[0]) < 2**0.5
    assert int(low[1]) <= 0 and int(high[1]) >= 5
    flip = lambda x: lax.while_loop(lambda v: v < 0, lambda v: -v, x)  # noqa: E731
    low, high = interval(flip)(f32(-2), f32(1))
    assert float(low) <= 0 and float(high) >= 2


def test_patience():
    half = lambda x: lax.while_loop(lambda v: v[0] > 1, lambda v: (v[0] - 0.01, v[1] + 1), (x, 0))  # noqa: E731
    low, high = interval(half)(f32(1), f32(2))
    assert int(low[1]) == 0 and 100 <= int(high[1]) <= 102
    low, high = interval(half, patience=50)(f32(1), f32(2))
    assert float(low[0]) == -np.inf and int(high[1]) == 2**31 - 1
    # Iterations that are certain need none.
    low, high = interval(half, patience=50)(f32(2), f32(2.1))
    assert int(low[1]) >= 99 and int(high[1]) <= 112


def test_a_loop_that_is_limited_is_known():
    low, high = interval(lambda a: newton(a, 3))(f32(1.5), f32(1.6))
    assert float(low[0]) <= 1.5**0.5 and float(high[0]) >= 1.6**0.5
    assert np.isfinite(low[0]) and np.isfinite(high[0]) and int(high[1]) == 3


def test_loops_of_integers_and_booleans():
    def f(n):
        body = lambda s: (s[0] // 2, s[1] + 1, ~s[2])  # noqa: E731
        return lax.while_loop(lambda s: s[0] > 0, body, (n, 0, True))

    low, high = interval(f)(np.int32(3), np.int32(9))
    for n in range(3, 10):
        for a, b, y in zip(low, high, f(np.int32(n))):
            assert a <= y <= b
    assert (int(low[1]), int(high[1])) == (2, 4)


def test_weakly_typed_carries():
    f = lambda x: lax.scan(lambda c, _: (abs(c) * 0.5, c > 1), x, None, 3)  # noqa: E731
    low, high = interval(f)(-4.0, 8.0)
    assert (float(low[0]), float(high[0])) == (0, 1)
    np.testing.assert_array_equal(low[1], [False, False, False])
    np.testing.assert_array_equal(high[1], [True, True, True])


def test_checkpointed_functions():
    f = dovetail.checkpoint(lambda x: dnp.sin(x) * x)
    sound(f, 0.5, 3)


def test_sub_programs_are_lifted_once():
    g = dovetail.jit(lambda x: dnp.sin(x) + 1)
    box = interval(lambda x: g(g(x)))
    program = dovetail.make_jaxpr(lambda x: g(x))(f32(0)).jaxpr.eqns[0].params["jaxpr"]
    box(f32(0), f32(1))
    kept = len(program.cache)
    box(f32(0), f32(1))
    assert len(program.cache) == kept
