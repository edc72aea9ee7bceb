"""Machines among other transformations, in loops and branches, and with references."""

from __future__ import annotations

import numpy as np
import pytest
from acme_stochastic import randomly_rounded, samples, significant_digits

import dovetail
from dovetail import checkpoint, custom_jvp, grad, jit, lax, numpy as dnp, random, vmap

f32, u32 = np.float32, np.uint32
KEY = random.key(0)
EPS = 2.0**-23


def cancels(x):
    return (1 + x) - 1


def near(found, exact, units=4.0):
    """Whether machines are off, and by some units at most."""
    off = np.abs(np.asarray(found) - exact) / np.abs(exact) / EPS
    return 0 < off.max() <= units


def test_compiled_in_any_order():
    x = f32(1e-3)
    digits = [float(d(x, KEY)) for d in (
        significant_digits(cancels), jit(significant_digits(cancels)),
        significant_digits(jit(cancels)), jit(significant_digits(jit(cancels))),
    )]  # fmt: skip
    np.testing.assert_allclose(digits, digits[0], atol=0.3)  # compiled sums may round otherwise
    assert 3 < digits[0] < 4.3


def test_mapped_in_any_order():
    x = np.array([1e-5, 1e-3, 1e-1], f32)
    outside = jit(vmap(significant_digits(cancels), in_axes=(0, None)))(x, KEY)
    inside = jit(significant_digits(vmap(cancels)))(x, KEY)
    np.testing.assert_array_equal(outside, inside)
    assert np.all(np.diff(outside) > 1.5)
    many = vmap(significant_digits(cancels), in_axes=(None, 0))(x[1], random.split(KEY, 3))
    assert len(set(map(float, many))) == 3


def test_digits_of_a_gradient():
    """Of (1 - cos x) / x² the derivative cancels worse than the value."""
    f = lambda x: (1 - dnp.cos(x)) / (x * x)  # noqa: E731
    value, slope = (float(jit(significant_digits(g))(f32(0.03), KEY)) for g in (f, grad(f)))
    assert slope < value - 1
    exact = lambda x: np.sin(x) / x**2 - 2 * (1 - np.cos(x)) / x**3  # noqa: E731
    found = float(grad(f)(f32(0.03)))
    assert slope <= -np.log10(abs(found / exact(np.float64(f32(0.03))) - 1))


def test_higher_derivatives():
    third = grad(grad(grad(lambda x: dnp.exp(2 * x))))
    found = samples(third, 8)(f32(0.3), KEY)
    assert near(found, 8 * np.exp(2 * np.float64(f32(0.3))), 16)


def test_the_derivative_of_a_mean_of_machines():
    """Rounding has no derivative: that of what a machine computes is that of the function."""
    mean = lambda x: dnp.mean(samples(lambda x: dnp.sin(x) * x, 8)(x, KEY))  # noqa: E731
    x = 0.7
    for g in (grad(mean), jit(grad(mean))):
        np.testing.assert_allclose(g(f32(x)), np.sin(x) + x * np.cos(x), rtol=1e-6)
    tangent = dovetail.jvp(mean, (f32(x),), (f32(2),))[1]
    np.testing.assert_allclose(tangent, 2 * (np.sin(x) + x * np.cos(x)), rtol=1e-6)


def test_a_scan():
    """Its variable starts with a number that is exact, and is of the machine afterwards."""

    def f(xs):
        def step(total, x):
            total = total + x
            return total, total / 3

        return lax.scan(step, f32(0), xs)

    xs = np.linspace(0.1, 1, 20).astype(f32)
    total, thirds = jit(samples(f, 16))(xs, KEY)
    assert total.shape == (16,) and thirds.shape == (16, 20)
    assert near(total, xs.astype(np.float64).sum(), 20)
    assert near(thirds, np.cumsum(xs.astype(np.float64)) / 3, 20)


def test_a_scan_is_what_the_same_steps_are():
    """A machine does the same in a loop and outside of it."""
    cs = np.array([1.1, 0.9, 1.3], f32)
    loop = lambda x: lax.scan(lambda x, c: (x * c, x * x), x, cs)  # noqa: E731

    def steps(x):
        squares = []
        for c in cs:
            squares.append(x * x)
            x = x * c
        return x, dnp.stack(squares)

    for a, b in zip(*(randomly_rounded(f)(u32(5), f32(0.7)) for f in (loop, steps))):
        np.testing.assert_array_equal(a, b)


def test_a_scan_without_steps():
    x, ys = samples(lambda x: lax.scan(lambda c, x: (c * x, c), f32(2), x), 3)(
        np.zeros(0, f32), KEY
    )
    np.testing.assert_array_equal(x, [2, 2, 2])
    assert ys.shape == (3, 0)


def test_machines_leave_a_loop_when_each_is_done():
    """Newton's method ends when a step changes nothing: after few steps more or less."""

    def root(a):
        def goes_on(s):
            x, before, n = s
            return (dnp.abs(x - before) > 3e-7 * x) & (n < 50)

        def step(s):
            x, _, n = s
            return (x + a / x) / 2, x, n + 1

        x, _, n = lax.while_loop(goes_on, step, (a, f32(0), 0))
        return x, n

    x, n = jit(samples(root, 64))(f32(2), KEY)
    assert near(x, np.sqrt(2), 4) and len(set(np.asarray(n).tolist())) > 1
    digits = jit(significant_digits(root, 64))(f32(2), KEY)
    assert digits[0] > 5.5 and digits[1] == 0


def test_a_branch_that_machines_do_not_agree_on():
    f = lambda x: lax.cond((1 + x) - 1 > x, lambda x: x, lambda x: -x, x)  # noqa: E731
    found = np.asarray(jit(samples(f, 64))(f32(1e-3), KEY))
    assert set(np.sign(found)) == {-1, 1}
    assert significant_digits(f)(f32(1e-3), KEY) == 0


def test_a_branch_of_what_is_exact():
    f = lambda x, n: lax.cond(n > 0, lambda x: x * 3, lambda x: f32(1), x)  # noqa: E731
    assert near(samples(f)(f32(1.1), 1, KEY), 3 * np.float64(f32(1.1)))
    np.testing.assert_array_equal(samples(f)(f32(1.1), 0, KEY), 1)


def test_references():
    def f(x):
        ref = dovetail.new_ref(dnp.zeros_like(x))
        ref[...] += x * 3
        ref[0] = 1.0

        def body(i, _):
            ref[...] = ref[...] * x

        lax.fori_loop(0, 3, body, None)
        return ref[...]

    x = np.array([0.3, 1.1, 2.7], f32)
    exact = 3 * x.astype(np.float64) ** 4
    exact[0] = x[0].astype(np.float64) ** 3
    for g in (samples(f), jit(samples(f)), samples(jit(f))):
        found = np.asarray(g(x, KEY))
        assert all(near(found[:, i], exact[i], 10) for i in range(3))
    found = samples(grad(lambda x: dnp.sum(f(x))))(x, KEY)
    assert near(np.asarray(found)[:, 1], 12 * np.float64(x[1]) ** 3, 20)


def test_rules_of_ones_own_and_checkpoints():
    @custom_jvp
    def sine(x):
        return dnp.sin(x)

    sine.defjvp(lambda p, t: (dnp.sin(p[0]), 5 * t[0] * dnp.cos(p[0])))
    x = np.float64(f32(0.3))
    assert near(samples(sine)(f32(0.3), KEY), np.sin(x))
    assert near(samples(grad(sine))(f32(0.3), KEY), 5 * np.cos(x))
    from_outside = grad(lambda x: dnp.mean(samples(sine)(x, KEY)))(f32(0.3))
    np.testing.assert_allclose(from_outside, np.cos(x), rtol=1e-6)
    assert near(samples(grad(checkpoint(lambda x: dnp.sin(x * x))))(f32(0.3), KEY),
                2 * x * np.cos(x * x), 8)  # fmt: skip


def test_machines_of_machines():
    """The digits of a number of digits: few, and the same machines do not meet."""
    digits = significant_digits(cancels, 8)
    again = float(jit(significant_digits(digits, 8))(f32(1e-3), KEY, random.key(1)))
    assert 0 <= again < 2


def test_what_the_function_closes_over_is_exact():
    w = np.array([[0.3, 0.7], [1.1, 0.9]], f32)
    found = jit(samples(lambda x: dnp.tanh(x @ w)))(np.ones(2, f32), KEY)
    assert near(found, np.tanh(w.astype(np.float64).sum(0)), 6)


@pytest.mark.parametrize("n", [1, 3])
def test_networks(n):
    """Digits of a layer, mapped over a batch and compiled."""
    w = np.random.default_rng(0).normal(size=(32, 32)).astype(f32)
    f = lambda x: dovetail.nn.softmax(dnp.tanh(x @ w) @ w)  # noqa: E731
    x = np.random.default_rng(1).normal(size=(n, 32)).astype(f32)
    said = np.asarray(jit(significant_digits(vmap(f)))(x, KEY))
    found = np.asarray(vmap(f)(x), np.float64)
    z = np.tanh(x.astype(np.float64) @ w) @ w.astype(np.float64)
    exact = np.exp(z) / np.exp(z).sum(-1, keepdims=True)
    have = np.clip(-np.log10(np.abs(found / exact - 1) + 1e-12), 0, 7)
    assert np.mean(said <= have) > 0.95 and np.mean(have - said) < 2


def test_high_types_pass_through():
    """What is no array has no last place; its arrays have."""
    found = samples(lambda x: dovetail.random.wrap_key_data(dovetail.random.key_data(KEY)), 3)(
        f32(1), KEY
    )
    assert found.shape == (3,)
    box = dovetail.new_ref(f32(0))

    def f(x):
        ref = dovetail.new_ref(x * 3)
        return dovetail.freeze(ref) + box[...]

    assert near(samples(f)(f32(1.1), KEY), 3 * np.float64(f32(1.1)))
