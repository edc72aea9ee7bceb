"""One machine: how it rounds, what it leaves alone, and that it does the same again."""

from __future__ import annotations

import numpy as np
import pytest
from acme_stochastic import randomly_rounded, samples

import dovetail
from dovetail import jit, lax, numpy as dnp, random, vmap

f32, u32 = np.float32, np.uint32
SEEDS = np.arange(1, 20001, dtype=u32) * u32(2654435761) | u32(1)
X = np.array([0.3, -1.7, 5e8, -3e-20, 1.0, 2.0], f32)


def machines(f, *args, seeds=SEEDS):
    return np.asarray(jit(vmap(lambda s: randomly_rounded(f)(s, *args)))(seeds))


def units(found, exact):
    """By how many units in the last place results are off."""
    _, exponent = np.frexp(np.float64(exact))
    return (np.float64(found) - exact) / np.ldexp(1.0, exponent - 24)


def test_a_result_is_moved_by_a_unit_up_or_down():
    off = units(machines(lambda x: x * f32(3), X), X * f32(3))
    assert set(np.unique(off)) == {-1, 0, 1}
    shares = [np.mean(off == k, 0) for k in (-1, 0, 1)]
    np.testing.assert_allclose(shares, np.array([[0.25], [0.5], [0.25]]) + np.zeros(6), atol=0.015)


def test_elements_are_moved_independently():
    off = units(machines(lambda x: x * f32(3), X), X * f32(3))
    np.testing.assert_allclose(np.corrcoef(off.T), np.eye(6), atol=0.03)


def test_operations_on_one_number_are_moved_independently():
    f = lambda x: dnp.stack([x * f32(3), x + f32(2) * f32(1.1), x / f32(0.7)])  # noqa: E731
    off = machines(f, f32(1.1)) - np.asarray(f(f32(1.1)))
    np.testing.assert_allclose(np.corrcoef(off.T), np.eye(3), atol=0.03)


@pytest.mark.parametrize("x", [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-41])
def test_what_has_no_unit_stays(x):
    found = machines(lambda x: x * x if x.dtype.kind == "c" else lax.mul(x, f32(1)), f32(x))
    assert len(np.unique(found.view(u32))) == 1
    if x != 1e-41:  # which machines may take for zero
        np.testing.assert_array_equal(found[0].view(u32) << 1, f32(x).view(u32) << 1)


@pytest.mark.parametrize(
    "f",
    [lambda x: -dnp.abs(x), lambda x: dnp.maximum(x, 0.5), lambda x: x[::-1].reshape(2, 3).T,
     lambda x: dnp.where(x > 0, x, 1.0), lambda x: dnp.sort(x)[:2], lambda x: x[dnp.argsort(x)],
     lambda x: dnp.floor(x), lambda x: dnp.concatenate([x, x]), lambda x: x.at[1].set(2.0),
     lambda x: x.max(), lambda x: dnp.round(x).astype(dnp.int32) // 3],
)  # fmt: skip
def test_what_only_moves_and_chooses_is_exact(f):
    found = machines(f, X, seeds=SEEDS[:50])
    np.testing.assert_array_equal(found, np.broadcast_to(f(dnp.asarray(X)), found.shape))


def test_what_does_not_depend_on_the_arguments_is_exact():
    found = machines(lambda x: (dnp.sqrt(f32(2)) / 3, x)[0], f32(1), seeds=SEEDS[:50])
    assert len(np.unique(found)) == 1


def test_the_same_again_is_the_same():
    f = lambda x: dnp.tanh(x) * dnp.sin(x)  # noqa: E731
    np.testing.assert_array_equal(machines(lambda x: f(x) - f(x), X, seeds=SEEDS[:99]), 0)
    np.testing.assert_array_equal(
        machines(lambda x: (x + x[::-1]) - (x[::-1] + x), X, seeds=SEEDS[:99]), 0
    )
    key = random.key(3)
    many = jit(samples(f))
    np.testing.assert_array_equal(many(X, key), many(X, key))
    assert np.any(many(X, key) != many(X, random.key(4)))


def test_a_mapped_function_is_what_it_is_for_each():
    f = lambda x: (x * x + 1) / (x - 3)  # noqa: E731
    machine = randomly_rounded(f)
    each = [machine(u32(7), x) for x in X]
    np.testing.assert_array_equal(vmap(machine, in_axes=(None, 0))(u32(7), X), each)
    np.testing.assert_array_equal(randomly_rounded(vmap(f))(u32(7), X), each)


def test_errors_of_a_loop_are_independent():
    """The error of n products grows as the root of n."""
    n = 1000
    cs = np.random.default_rng(0).uniform(0.5, 2, n).astype(f32)
    cs = (cs / np.exp(np.mean(np.log(cs)))).astype(f32)

    def f(x):
        return lax.scan(lambda x, c: (x * c, None), x, cs)[0]

    found = machines(f, f32(1), seeds=SEEDS[:400])
    error = np.std(found / np.mean(found))
    # Of one: a unit with probability 1/2; a unit is from 2^-24 to 2^-23 of a number.
    assert 2.0**-24 < error / np.sqrt(n / 2) < 2.0**-23


def test_sums_take_errors_of_partial_sums():
    x = np.random.default_rng(1).normal(size=4096).astype(f32)
    found = machines(dnp.sum, x, seeds=SEEDS[:400])
    error = np.std(found.astype(np.float64))
    # Of log2(n) = 12 additions on the way of each term.
    expected = np.sqrt(12 / 2) * 2.0**-23.5 * np.sqrt(np.sum(x.astype(np.float64) ** 2))
    assert 0.5 < error / expected < 2


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64"])
def test_other_types(dtype):
    x = dnp.asarray([0.3, -1.7], dtype)
    found = jit(samples(lambda x: x * x, 64))(x, random.key(0))
    exact, eps = np.asarray(x * x, np.complex64), float(dnp.finfo(dtype).eps)
    error = np.abs(np.asarray(found, np.complex64) - exact) / np.abs(exact)
    assert found.dtype == x.dtype and 0 < error.max() <= 1.5 * eps


def test_double_precision():
    with dovetail.enable_x64():
        x = np.array([0.3, -1.7])
        found = np.asarray(samples(lambda x: x * x, 64)(x, random.key(0)))
    error = np.abs(found - x * x) / np.spacing(x * x)
    assert found.dtype == np.float64 and set(np.unique(error)) == {0, 1}
