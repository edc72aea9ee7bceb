"""Array functions under differentiation, batching and compilation."""

from __future__ import annotations

import os

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_ad import grad, value_and_grad
from dovetail_backends import evaluate
from dovetail_batching import vmap
from dovetail_core import config
from dovetail_jit import jit, make_jaxpr

FULL = os.environ.get("DOVETAIL_TEST_FULL") == "1"
EVALUATED = ("var", "items", "set slices", "where", "median", "solve")  # one operation at a time

INDEX = np.array([0, 2, 1])
SCALAR_FUNCTIONS = {
    "mean": lambda x: dnp.mean(x**2),
    "var": lambda x: dnp.var(x, axis=0).sum(),
    "std": lambda x: dnp.std(x, axis=1).sum(),
    "max": lambda x: dnp.max(x, axis=0).sum(),
    "prod": lambda x: dnp.prod(x),
    "items": lambda x: x[1].sum() + x[:, 2].sum() * 3 + x[0, 1] ** 2,
    "slices": lambda x: (x[1:, ::2] ** 2).sum() + (x[::-1] * x).sum(),
    "gather": lambda x: (x[:, INDEX] ** 2).sum() + (x[INDEX % 2, INDEX] ** 3).sum(),
    "mask": lambda x: (x[np.array([True, False])] ** 2).sum(),
    "set": lambda x: (x.at[1].set(0.0) * x).sum(),
    "set slices": lambda x: (x.at[:, 1:].set(x[:, :2] * 2) ** 2).sum(),
    "add": lambda x: (x.at[:, INDEX].add(x * 2) ** 2).sum(),
    "multiply": lambda x: (x.at[0].multiply(x[1]) ** 2).sum(),
    "matmul": lambda x: dnp.tanh(x @ x.T).sum(),
    "einsum": lambda x: dnp.einsum("ij,kj,ik->", x, x, x @ x.T),
    "where": lambda x: dnp.where(x > 0, x**2, -x).sum(),
    "clip": lambda x: (dnp.clip(x, -0.5, 0.5) ** 2).sum(),
    "power": lambda x: (dnp.abs(x) ** 2.5 + x**3 + 2.0**x).sum(),
    "concatenate": lambda x: (dnp.concatenate([x, x * 2], axis=1) ** 2).sum(),
    "split": lambda x: (dnp.split(x, 3, axis=1)[1] ** 2).sum(),
    "pad": lambda x: (dnp.pad(x, 1, mode="reflect") ** 2).sum(),
    "roll": lambda x: (dnp.roll(x, 1, axis=1) * x).sum(),
    "cumsum": lambda x: (dnp.cumsum(x, axis=1) ** 2).sum(),
    "sort": lambda x: (dnp.sort(x, axis=1) * np.arange(3.0)).sum(),
    "median": lambda x: dnp.median(x, axis=1).sum(),
    "take_along_axis": lambda x: (dnp.take_along_axis(x, INDEX[None, :2], 1) ** 2).sum(),
    "norm": lambda x: dnp.linalg.norm(x, axis=1).sum(),
    "logaddexp": lambda x: dnp.logaddexp(x, 2 * x).sum(),
    "fft": lambda x: (dnp.abs(dnp.fft.fft(x)) ** 2).sum(),
    "tril": lambda x: (dnp.tril(x) ** 2).sum(),
    "det": lambda x: dnp.linalg.det(x @ x.T),
    "solve": lambda x: dnp.linalg.solve(x @ x.T, x).sum(),
}


def _finite_differences(f, x, step=1e-2):
    """The gradient of ``f`` by central differences, all of them at once."""
    ends = [(i, s) for i in np.ndindex(x.shape) for s in (step, -step)]
    moved = np.repeat(x[None], len(ends), 0)
    for k, (i, s) in enumerate(ends):
        moved[(k, *i)] += s
    values = np.array([f(v)[0] for v in moved], float).reshape(*x.shape, 2)
    return (values[..., 0] - values[..., 1]) / (2 * step)


def program(f, x):
    """``f`` traced once, run by the NumPy reference backend, which need not compile."""
    traced = make_jaxpr(f)(x)
    return lambda *args: evaluate(traced, *args)


@pytest.mark.parametrize("name", SCALAR_FUNCTIONS)
def test_gradients_batches_and_programs(name):
    """Of values and derivatives alone, then of the same as one program of XLA."""
    f = SCALAR_FUNCTIONS[name]
    x = np.array([[0.9, -1.3, 0.4], [1.7, 0.6, -0.8]], np.float32)
    value, slope = program(f, x), program(grad(f), x)
    np.testing.assert_allclose(slope(x)[0], _finite_differences(value, x), rtol=3e-2, atol=3e-2)
    stack = np.stack([x, x * np.float32(0.7)])
    each = [np.stack([g(v)[0] for v in stack]) for g in (value, slope)]
    both = jit(vmap(value_and_grad(f)))
    for result in (both(stack), program(both, stack)(stack)):
        np.testing.assert_allclose(result[0], each[0], rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(result[1], each[1], rtol=2e-3, atol=1e-3)
    if name in EVALUATED or FULL:
        np.testing.assert_allclose(f(dnp.asarray(x)), each[0][0], rtol=2e-4, atol=2e-4)
        np.testing.assert_allclose(grad(f)(dnp.asarray(x)), each[1][0], rtol=2e-4, atol=2e-4)


def test_batches_of_indices(near):
    x = dnp.arange(12.0).reshape(3, 4)
    at = dnp.asarray([1, 3, 0])
    near(vmap(lambda row, i: row[i])(x, at), np.array([1.0, 7, 8]))
    near(vmap(lambda row, i: row.at[i].set(-1.0))(x, at)[1], np.array([4.0, 5, 6, -1]))
    near(vmap(lambda i: x[:, i], out_axes=1)(at), np.asarray(x)[:, [1, 3, 0]])


def test_composite_functions_are_one_call_when_evaluated(arrays, monkeypatch):
    from dovetail_jit.call import miss

    calls = []
    monkeypatch.setattr(miss, "executable_for", _counted(miss.executable_for, calls))
    x = dnp.asarray(np.random.default_rng(1).standard_normal((7, 5)).astype(np.float32))
    i = x.astype(int)
    for f in (lambda: dnp.var(x, axis=0), lambda: dnp.tril(x),
              lambda: x[1:5, 2], lambda: x.at[1:5, 2].add(1.0), lambda: dnp.sinc(x),
              lambda: dnp.floor_divide(x, x), lambda: dnp.concatenate([x, i], 1)):  # fmt: skip
        f()
        f()  # the first call may be NumPy's
        calls.clear()
        f()
        # C++ repeats it; or NumPy goes on, as one executable.
        assert len(calls) <= (config.interpret_first_calls > 0)


def _counted(function, calls):
    def counting(*args, **kwargs):
        calls.append(args)
        return function(*args, **kwargs)

    return counting


def primitives_of(f, *args):
    return [e.primitive.name for e in make_jaxpr(f)(*args).eqns]


def test_two_broadcasts_in_a_row_are_one():
    x, y = dnp.arange(3.0), dnp.ones((2, 3))
    twice = ["broadcast_in_dim"] * 2
    assert primitives_of(lambda x: x[None] * x[:, None], x) == [*twice, "mul"]
    assert primitives_of(lambda x: dnp.expand_dims(x, 1) < x, x) == [*twice, "lt"]
    assert primitives_of(lambda y: y - y.sum(1, keepdims=True), y) == [
        "reduce_sum", "broadcast_in_dim", "sub",
    ]  # fmt: skip
    (call,) = make_jaxpr(dnp.outer)(x, x).eqns
    inner = call.params["jaxpr"].jaxpr.eqns
    assert [e.primitive.name for e in inner] == [*twice, "mul"]
    assert primitives_of(lambda y: y[:, None] + y[None], y) == [*twice, "add"]
    # What is used otherwise stays.
    assert primitives_of(lambda x: (x[None] * x[:, None], x[None]), x)[-1] == "broadcast_in_dim"
    column = primitives_of(lambda x: (lambda c: (c * x, c))(x[:, None]), x)
    assert column == ["broadcast_in_dim"] * 3 + ["mul"]


def test_values_of_merged_broadcasts(near):
    x, y = dnp.arange(3.0) + 1, dnp.arange(6.0).reshape(2, 3)
    for f in (
        lambda x, y: x[None] * x[:, None],
        lambda x, y: y[:, None] - y[None, :, :1],
        lambda x, y: y - y.mean(1, keepdims=True) + x[:, None, None],
        lambda x, y: dnp.where(x[:, None] > 1, x[None], 2.0),
        lambda x, y: (lambda c: c * x + c)(x[:, None]),
        lambda x, y: dnp.broadcast_to(dnp.sum(y)[None, None], (2, 2)) * y[:, :1],
        lambda x, y: dnp.outer(x, y),
    ):
        wanted = f(x, y)
        near(jit(f)(x, y), wanted)
        near(vmap(jit(f))(x[None], y[None])[0], wanted)
        near(jit(vmap(f))(x[None], y[None])[0], wanted)
        slope = grad(lambda x, y, f=f: (f(x, y) ** 2).sum(), (0, 1))
        for a, b in zip(jit(slope)(x, y), slope(x, y)):
            near(a, b)
