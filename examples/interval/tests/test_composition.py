"""Bounds among other transformations: under them, of them, and of bounds."""

from __future__ import annotations

import numpy as np
import pytest
from acme_interval import interval

import dovetail
from dovetail import grad, jit, lax, numpy as dnp, vmap

f32 = np.float32
LO, HI = np.array([0.1, -1.0, 2.0], f32), np.array([0.9, 0.5, 2.5], f32)


def f(x):
    return dnp.sum(dnp.tanh(x) * dnp.cos(x) - 0.5 * x)


@pytest.mark.parametrize("box", [jit(interval(f)), interval(jit(f)), jit(interval(jit(f)))])
def test_compiled_bounds_are_bounds(box):
    for a, b in zip(box(LO, HI), interval(f)(LO, HI)):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_bounds_of_many_boxes():
    g = lambda x: dnp.exp(x) * dnp.sin(3 * x)  # noqa: E731
    each = [interval(g)(a, b) for a, b in zip(LO, HI)]
    for many in (vmap(interval(g)), interval(vmap(g))):
        for end, bounds in enumerate(many(LO, HI)):
            np.testing.assert_allclose(bounds, [e[end] for e in each], rtol=1e-6)


def test_one_bound_for_many_boxes():
    """Only the upper bounds are mapped."""
    _, high = vmap(interval(dnp.exp), in_axes=(None, 0))(f32(0), HI)
    np.testing.assert_allclose(high, np.exp(HI), rtol=1e-6)


def test_the_derivative_of_the_width():
    def width(lo, hi):
        low, high = interval(dnp.sin)(lo, hi)
        return high - low

    # sin rises from 0.1 to 0.9: the width is sin hi - sin lo.
    found = grad(width, argnums=(0, 1))(f32(0.1), f32(0.9))
    np.testing.assert_allclose(found, [-np.cos(0.1), np.cos(0.9)], rtol=1e-6)
    # A maximum lies between the bounds: only the lower one moves, with the lesser end.
    found = grad(width, argnums=(0, 1))(f32(0.1), f32(2.0))
    np.testing.assert_allclose(found, [-np.cos(0.1), 0], atol=1e-6)


def test_training_for_narrow_bounds():
    """Gradients of a loss made of bounds, in known parameters."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=(3, 4)).astype(f32)

    def layer(x, w):
        return dnp.maximum(x @ w, 0)

    def width(w):
        low, high = interval(layer)(LO, HI, w)
        return dnp.sum(high - low)

    g = np.asarray(jit(grad(width))(w))
    at = (1, 2)
    step = np.zeros_like(w)
    step[at] = 1e-2
    slope = (float(width(w + step)) - float(width(w - step))) / 2e-2
    assert g[at] == pytest.approx(slope, rel=1e-2, abs=1e-3)


def test_forward_derivatives_of_bounds_through_loops():
    def g(x):
        return lax.while_loop(lambda v: v < 4, lambda v: v * 1.5, x)

    def low(lo):
        return interval(g)(lo, lo + 0.01)[0]

    y, dy = dovetail.jvp(low, (f32(1),), (f32(1),))
    assert float(y) == pytest.approx(1.5**4) and float(dy) == pytest.approx(1.5**4)


@pytest.mark.parametrize(
    "slope, box, expected",
    [
        (grad(lambda x: x**3 - x), (1, 2), (2, 11)),  # so x**3 - x rises from 1 to 2
        (grad(dnp.sin), (0, 1), (np.cos(1), 1)),
        (grad(grad(dnp.sin)), (0, 1), (-np.sin(1), 0)),
        (
            grad(lambda x: lax.scan(lambda c, _: (c * x, None), x, None, length=2)[0]),
            (1, 2),
            (3, 12),
        ),
    ],
)
def test_bounds_of_derivatives(slope, box, expected):
    found = interval(slope)(*map(f32, box))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_bounds_of_a_jacobian_and_a_hessian():
    g = lambda x: dnp.sum(x**3)  # noqa: E731
    lo, hi = interval(dovetail.jacfwd(g))(LO, HI)
    np.testing.assert_allclose(
        lo, 3 * np.where(LO * HI < 0, 0, np.minimum(LO**2, HI**2)), rtol=1e-5
    )
    np.testing.assert_allclose(hi, 3 * np.maximum(LO**2, HI**2), rtol=1e-5)
    lo, hi = interval(dovetail.hessian(g))(LO, HI)
    assert np.all(np.diag(np.asarray(lo)) <= 6 * LO + 1e-5)
    assert np.all(np.diag(np.asarray(hi)) >= 6 * HI - 1e-5)


def test_bounds_of_bounds():
    """How the lower bound moves while the lower end of the box does."""
    low = lambda a: interval(lambda x: x * x)(a, f32(4))[0]  # noqa: E731
    lo, hi = interval(low)(f32(1), f32(2))
    assert (float(lo), float(hi)) == (1, 4)


ROWS = np.arange(9, dtype=f32).reshape(3, 3)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: lax.psum(-x, "i"),
        lambda x: lax.pmax(x, "i"),
        lambda x: lax.pmin(-x, "i"),
        lambda x: lax.ppermute(x, "i", [(0, 1), (1, 2), (2, 0)]),
        lambda x: lax.all_gather(-x, "i"),
        lambda x: lax.all_to_all(x, "i", 0, 0),
    ],
)
def test_collectives_over_a_mapped_axis(f):
    """Of a monotone function the bounds are its values at the ends, in one order or the other."""
    at_ends = [np.asarray(vmap(f, axis_name="i")(x)) for x in (ROWS, ROWS + 1)]
    for box in (vmap(interval(f), axis_name="i"), interval(vmap(f, axis_name="i"))):
        low, high = box(ROWS, ROWS + 1)
        np.testing.assert_array_equal(low, np.minimum(*at_ends))
        np.testing.assert_array_equal(high, np.maximum(*at_ends))


def test_a_network():
    """Certified bounds of a small convolutional classifier hold for noisy images."""
    rng = np.random.default_rng(3)
    p = {
        "conv": rng.normal(size=(4, 1, 3, 3)).astype(f32) / 3,
        "out": rng.normal(size=(4 * 4 * 4, 3)).astype(f32) / 8,
    }

    def logits(image, p):
        x = lax.conv(image[None, None], p["conv"], (1, 1), "SAME")
        x = dovetail.nn.relu(x)
        x = lax.reduce_window(x, -dnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        return dovetail.nn.log_softmax(x.reshape(-1) @ p["out"])

    image = rng.uniform(size=(8, 8)).astype(f32)
    lo, hi = jit(interval(logits))(image - 0.02, image + 0.02, p)
    noisy = image + rng.uniform(-0.02, 0.02, size=(50, 8, 8)).astype(f32)
    values = np.asarray(vmap(lambda x: logits(x, p))(noisy))
    assert np.all(lo <= values + 1e-5) and np.all(values <= hi + 1e-5)
    assert np.all(np.asarray(hi) - np.asarray(lo) < 3)
