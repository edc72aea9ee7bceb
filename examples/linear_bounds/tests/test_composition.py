"""Bounds among other transformations, and through control flow, for which there is no rule here."""

from __future__ import annotations

import numpy as np
import pytest
from acme_linear_bounds import affine_rules, linear_bounds

import dovetail
from dovetail import grad, jit, lax, numpy as dnp, vmap
from dovetail_core import primitives, registry
from dovetail_core.registry.plugins import load_object

f32 = np.float32
LOW, HIGH = np.array([0.1, -1.0, 2.0], f32), np.array([0.9, 0.5, 2.5], f32)


def f(x):
    return dnp.tanh(x) * x - 0.5 * x


def same(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "bounds", [jit(linear_bounds(f)), linear_bounds(jit(f)), linear_bounds(dovetail.checkpoint(f))]
)
def test_compiled(bounds):
    same(bounds(LOW, HIGH), linear_bounds(f)(LOW, HIGH))


def test_mapped():
    each = [linear_bounds(f)(a, b) for a, b in zip(LOW, HIGH)]
    expected = [np.stack([e[i] for e in each]) for i in (0, 1)]
    same(vmap(linear_bounds(f))(LOW, HIGH), expected)
    same(linear_bounds(vmap(f))(LOW, HIGH), expected)
    same(vmap(jit(linear_bounds(jit(f))))(LOW, HIGH), expected)


def test_bounds_of_derivatives():
    below, above = linear_bounds(grad(lambda x: x**3 - x))(f32(1), f32(2))
    assert (float(below), float(above)) == (2, 11)
    below, above = linear_bounds(vmap(grad(dnp.tanh)))(LOW, HIGH)
    slopes = [1 - np.tanh(np.linspace(LOW, HIGH, 50)) ** 2]
    assert np.all(below <= np.min(slopes, 1)[0] + 1e-5)
    assert np.all(above >= np.max(slopes, 1)[0] - 1e-5)
    _, pushed = linear_bounds(lambda x: dovetail.jvp(f, (x,), (x,))[1])(LOW, HIGH)
    values = [dovetail.jvp(f, (x,), (x,))[1] for x in np.linspace(LOW, HIGH, 20, dtype=f32)]
    assert np.all(pushed >= np.max(values, 0) - 1e-5)


def test_derivatives_of_bounds():
    """Of the width, in the radius of the box: as finite differences say."""
    w = np.random.default_rng(0).normal(size=(3, 4)).astype(f32)

    def width(w, r):
        low, high = linear_bounds(lambda x: dnp.sum(dnp.tanh(x @ w)))(LOW - r, LOW + r)
        return high - low

    slope = float(grad(width, argnums=1)(w, f32(0.3)))
    apart = (float(width(w, f32(0.31))) - float(width(w, f32(0.29)))) / 0.02
    assert slope == pytest.approx(apart, rel=1e-2)
    trained = w
    for _ in range(5):
        trained = trained - f32(0.1) * np.asarray(grad(width)(trained, f32(0.3)))
    assert float(width(trained, f32(0.3))) < 0.8 * float(width(w, f32(0.3)))


def test_no_rule_is_declared_for_control_flow():
    for manifest in registry().active.values():
        for module in manifest.primitives:
            load_object(module)
    for name in ("cond", "while", "scan", "jit", "remat2"):
        assert affine_rules.get(primitives()[name]) is not None
        assert affine_rules.is_derived(primitives()[name])


def sound(f, low, high):
    below, above = linear_bounds(f)(f32(low), f32(high))
    values = np.array([f(x) for x in np.linspace(low, high, 41, dtype=f32)])
    assert np.all(below <= values.min(0) + 1e-4) and np.all(values.max(0) <= above + 1e-4)
    return float(np.max(above - below)), float(np.max(values.max(0) - values.min(0)))


def test_loops():
    # In each iteration a half of x is taken away again, which intervals do not see.
    scan = lambda x: lax.scan(lambda c, _: (c + x - 0.5 * c, c), x, None, 4)[0]  # noqa: E731
    width, actual = sound(scan, 0, 1)
    assert width == pytest.approx(actual, rel=1e-5)
    stacked = lambda x: lax.scan(lambda c, _: (dnp.sin(c), c - x), x, None, 3)[1]  # noqa: E731
    sound(stacked, 0.2, 0.6)
    sound(lambda x: lax.fori_loop(0, 3, lambda i, c: dnp.tanh(c + i) - c, x), -0.5, 0.5)

    def known(x):
        step = lambda s: (s[0] + 1, s[1] - x / 2)  # noqa: E731
        return lax.while_loop(lambda s: s[0] < 3, step, (0, x))[1]

    width, actual = sound(known, 0, 1)
    assert width == pytest.approx(actual, rel=1e-5)
    # The loop variable is known at first.
    sound(lambda x: lax.fori_loop(0, 2, lambda i, c: c * x + 1, f32(1)), -1, 1)


def test_branches():
    branch = lambda x: lax.cond(x > 0, lambda x: x + 1, lambda x: x - 2, x)  # noqa: E731
    ends = {(1, 2): (2, 3), (-2, -1): (-4, -3), (-1, 2): (-3, 3)}
    for (low, high), expected in ends.items():
        found = linear_bounds(branch)(f32(low), f32(high))
        assert tuple(map(float, found)) == pytest.approx(expected)
    certain = lambda x: lax.cond(x > 0, lambda x: x, lambda x: 0 * x, x) - x  # noqa: E731
    assert tuple(map(float, linear_bounds(certain)(f32(1), f32(2)))) == (0, 0)
    logical = lambda x: dnp.where((x > 0) & ~(x > 3) | (x < -5), x, 9.0)  # noqa: E731
    assert tuple(map(float, linear_bounds(logical)(f32(1), f32(2)))) == (1, 2)


def test_references():
    def g(x):
        ref = dovetail.new_ref(dnp.zeros(3))
        ref[:] = x
        lax.fori_loop(0, 3, lambda i, c: (ref.__setitem__(i, ref[i] - x[0]), c)[1], 0)
        return ref[...]

    below, above = linear_bounds(g)(LOW, HIGH)
    np.testing.assert_allclose(below, [0, -1.9, 1.1], atol=1e-6)
    np.testing.assert_allclose(above, [0, 0.4, 2.4], atol=1e-6)
    same(linear_bounds(jit(g))(LOW, HIGH), (below, above))


def test_custom_derivatives():
    @dovetail.custom_jvp
    def g(x):
        return x - x * x / 2

    g.defjvp(lambda primals, tangents: (g(*primals), (1 - primals[0]) * tangents[0]))
    same(linear_bounds(g)(LOW, HIGH), linear_bounds(lambda x: x - x * x / 2)(LOW, HIGH))
    below, above = linear_bounds(vmap(grad(g)))(LOW, HIGH)
    same((below, above), (1 - HIGH, 1 - LOW))
