"""Compressed Jacobians equal dense ones, by as many derivatives as there are colours."""

from __future__ import annotations

import numpy as np
import pytest
from acme_sparsity import color, sparse_hessian, sparse_jacobian, sparsity

import dovetail
from dovetail import grad, jit, lax, numpy as dnp, vmap
from dovetail_core import UnexpectedTracerError

f32 = np.float32
X = np.linspace(0.5, 2.0, 8).astype(f32)


def laplacian(u):
    return dnp.pad(u[:-1], (1, 0)) - 2 * u + dnp.pad(u[1:], (0, 1)) + u**3


def arrow(x):
    """Its last column is full: rows are few colours, columns many."""
    return dnp.sin(x) * x[-1]


def rosenbrock(x):
    return dnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def test_colours_tell_columns_apart():
    rng = np.random.default_rng(0)
    for density in (0.02, 0.1, 0.4):
        pattern = rng.uniform(size=(30, 40)) < density
        colors = color(pattern)
        assert set(colors) == set(range(colors.max() + 1))
        for c in range(colors.max() + 1):
            assert pattern[:, colors == c].sum(1).max() <= 1


@pytest.mark.parametrize("n", [3, 10, 100])
def test_a_tridiagonal_matrix_takes_three_colours(n):
    pattern = abs(np.arange(n)[:, None] - np.arange(n)) <= 1
    assert color(pattern).max() + 1 == 3
    assert color(np.eye(n, dtype=bool)).max() + 1 == 1
    assert color(np.ones((2, n), bool)).max() + 1 == n
    assert color(np.zeros((2, n), bool)).max() + 1 == 1
    assert color(np.zeros((2, 0), bool)).size == 0


@pytest.mark.parametrize(
    "f",
    [
        laplacian,
        arrow,
        lambda x: x[1:] * x[:-1],
        lambda x: dnp.outer(x, X[:2]),
        lambda x: dnp.sum(x),
        lambda x: dnp.ones(3),
        lambda x: lax.cond(x[0] > 1, lambda x: x[::-1], lambda x: x**2, x),
        lambda x: lax.fori_loop(0, 3, lambda i, v: laplacian(v) / 10, x),
        jit(laplacian),
        vmap(lambda x: x**2),
        grad(rosenbrock),
    ],
)
def test_equals_the_dense_jacobian(f):
    found = sparse_jacobian(f)(X)
    dense = np.asarray(dovetail.jacfwd(f)(X)).reshape(found.shape)
    np.testing.assert_allclose(found.dense(), dense, rtol=1e-5, atol=1e-5)
    assert found.values.shape == found.rows.shape == found.columns.shape
    again = sparse_jacobian(f, pattern=sparsity(f)(X))(X)
    np.testing.assert_array_equal(again.values, found.values)


def test_trees():
    x = {"a": X[:3], "b": X[3:7].reshape(2, 2)}
    f = lambda t: (t["b"] * t["a"][0], dnp.cumsum(t["a"]))  # noqa: E731
    parts = dovetail.jacfwd(f)(x)
    dense = np.block([[np.asarray(d[k]).reshape(-1, x[k].size) for k in "ab"] for d in parts])
    np.testing.assert_allclose(sparse_jacobian(f)(x).dense(), dense, rtol=1e-5)


def test_reverse_mode_where_rows_take_fewer_colours():
    sums = lambda x: dnp.stack([dnp.sum(x**2), dnp.sum(dnp.exp(x))])  # noqa: E731
    pattern = sparsity(sums)(X)
    assert color(pattern).max() + 1 == 8 and color(pattern.T).max() + 1 == 2
    text = str(dovetail.make_jaxpr(sparse_jacobian(sums, pattern=pattern))(X))
    assert "f32[2,8]" in text and "f32[8,8]" not in text  # two cotangents, no eight tangents
    text = str(dovetail.make_jaxpr(sparse_jacobian(laplacian))(X))
    assert "f32[3,8]" in text and "f32[8,8]" not in text


@pytest.mark.parametrize("f", [rosenbrock, lambda x: dnp.prod(x[:3]) + dnp.sum(x**4)])
def test_hessians(f):
    found = sparse_hessian(f)(X)
    dense = np.asarray(dovetail.hessian(f)(X))
    np.testing.assert_allclose(found.dense(), dense, rtol=1e-4, atol=1e-4)
    assert len(found.values) < dense.size / 2
    chosen = sparse_hessian(f, pattern=dense != 0)(X)
    np.testing.assert_allclose(chosen.dense(), dense, rtol=1e-4, atol=1e-4)


def dense(x):
    return sparse_jacobian(laplacian)(x).dense()


def test_transformed():
    expected = np.asarray(dovetail.jacfwd(laplacian)(X))
    compiled = jit(sparse_jacobian(laplacian))(X)
    np.testing.assert_allclose(compiled.dense(), expected, rtol=1e-5)
    many = vmap(dense)(dnp.stack([X, 2 * X]))
    np.testing.assert_allclose(many[1], dovetail.jacfwd(laplacian)(2 * X), rtol=1e-5)
    trace = grad(lambda x: dnp.trace(dense(x)))(X)
    np.testing.assert_allclose(trace, 6 * X, rtol=1e-5)
    looped = lax.scan(lambda c, x: (c, dense(x)), 0, X[None])[1]
    np.testing.assert_allclose(looped[0], expected, rtol=1e-5)
    ended = lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, dense(X)), (0, 0 * expected))
    np.testing.assert_allclose(ended[1], expected, rtol=1e-5)
    chosen = lax.cond(X[0] > 0, dense, lambda x: 0 * dense(x), X)
    np.testing.assert_allclose(chosen, expected, rtol=1e-5)


def test_in_a_reference():
    expected = np.asarray(dovetail.jacfwd(laplacian)(X))
    ref = dovetail.new_ref(dnp.zeros((8, 8)))

    @jit
    def keep(ref, x):
        ref[...] = dense(x)

    keep(ref, X)
    np.testing.assert_allclose(ref[...], expected, rtol=1e-5)


def test_newtons_method():
    """One step with a sparse Jacobian inside a compiled loop solves a nonlinear equation."""
    target = laplacian(X)

    def step(u, _):
        return u - dnp.linalg.solve(dense(u), laplacian(u) - target), None

    found = jit(lambda u: lax.scan(step, u, None, 6)[0])(X + 0.05)
    np.testing.assert_allclose(laplacian(found), target, atol=1e-4)


def test_closing_over_traced_values_takes_a_pattern():
    pattern = sparsity(laplacian)(X)
    f = jit(lambda a, x: sparse_jacobian(lambda u: a * laplacian(u), pattern=pattern)(x).dense())
    np.testing.assert_allclose(f(2.0, X), 2 * dense(X), rtol=1e-5)
    with pytest.raises(UnexpectedTracerError, match=r"being traced[^$]*give it as pattern="):
        jit(lambda a, x: sparse_jacobian(lambda u: a * laplacian(u))(x).dense())(2.0, X)
