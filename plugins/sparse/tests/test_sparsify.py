"""``sparsify``: functions of dense arrays on sparse ones, control flow, derivatives, own rules."""

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail.experimental import sparse
from dovetail.experimental.sparse import BCOO, sparsify
from dovetail_core import Primitive, registry

X = np.array([[0.0, 1.5, 0.0, -2.0], [0.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.5, 0.0]], np.float32)
M = BCOO.fromdense(X)


def same(f, *args, sparse_result=None):
    """Assert that ``f`` gives equal results with sparse and dense arrays, compiled too."""
    wanted = np.asarray(f(*[np.asarray(sparse.todense(a)) for a in args]))
    for run in (sparsify(f), sparsify(dovetail.jit(f)), dovetail.jit(sparsify(f))):
        got = run(*args)
        assert sparse_result is None or isinstance(got, BCOO) == sparse_result
        np.testing.assert_allclose(np.asarray(sparse.todense(got)), wanted, rtol=1e-5)


def test_operations():
    v = dnp.array([3.0, 4.0, 2.0])
    same(lambda m, v: 2 * m.T @ v, M, v, sparse_result=False)
    same(lambda m: dnp.sin(m) - m / 2, M, sparse_result=True)
    same(lambda m: dnp.einsum("ij,kj->ik", m, dnp.ones((5, 4))), M, sparse_result=False)
    same(lambda m: m.sum(), M, sparse_result=False)
    same(lambda m: m.sum(0) * dnp.arange(4.0), M, sparse_result=True)
    same(lambda m: m[1:, ::2].reshape(4)[None], M, sparse_result=True)
    same(lambda m: dnp.concatenate([m, 3 * m]), M, sparse_result=True)
    same(lambda m: m[dnp.array([2, 0])], M, sparse_result=True)
    same(lambda m: dnp.split(m, [1], axis=1)[1], M, sparse_result=True)
    same(lambda m: sparse.todense(m) + 1, M, sparse_result=False)
    same(lambda m: (m + m) ** 2, M, sparse_result=True)


def test_pytrees_and_arguments_by_name():
    out = sparsify(lambda d, *, times: {"y": d["m"] * times, "z": d["v"]})(
        {"m": M, "v": dnp.ones(2)}, times=3
    )
    np.testing.assert_array_equal(np.asarray(out["y"].todense()), 3 * X)
    assert isinstance(out["z"], dovetail.Array)


def test_control_flow():
    def scanned(m, v):
        return lax.scan(lambda c, x: (c * 0.5, (c @ v).sum() + x), m, dnp.arange(3.0))

    (carry, ys), (dense, zs) = sparsify(scanned)(M, dnp.ones(4)), scanned(X, dnp.ones(4))
    assert isinstance(carry, BCOO)
    np.testing.assert_array_equal(np.asarray(carry.todense()), np.asarray(dense))
    np.testing.assert_array_equal(np.asarray(ys), np.asarray(zs))
    same(lambda m: lax.cond(dnp.all(dnp.ones(2) > 0), lambda m: m * 2, lambda m: -m, m), M)
    same(lambda m: lax.fori_loop(0, 3, lambda i, c: c * 2, m), M, sparse_result=True)
    same(lambda m: lax.fori_loop(0, 3, lambda i, c: c @ m.T @ m, m), M)
    batched = BCOO.fromdense(X, n_batch=1)
    same(lambda m: lax.scan(lambda c, row: (c + row.sum(), row * 2), 0.0, m)[1], batched)
    with pytest.raises(NotImplementedError, match="no batch axis"):
        sparsify(lambda m: lax.scan(lambda c, row: (c, row), 0.0, m))(M)


def test_derivatives():
    v = dnp.array([3.0, 4.0, 2.0])

    def f(m, v):
        return (dnp.sin(m).T @ v).sum()

    got = dovetail.grad(sparsify(f), allow_int=True)(M, v).data
    wanted = np.asarray(dovetail.grad(f)(X, v))
    np.testing.assert_allclose(np.asarray(got), wanted[X != 0], rtol=1e-6)
    inner = sparsify(lambda m, v: dovetail.grad(lambda v: ((m.T @ v) ** 2).sum())(v))(M, v)
    np.testing.assert_allclose(np.asarray(inner), 2 * X @ (X.T @ np.asarray(v)), rtol=1e-6)


def test_what_would_be_dense_is_refused():
    with pytest.raises(NotImplementedError, match="no rule for primitive 'cos'"):
        sparsify(dnp.cos)(M)
    with pytest.raises(NotImplementedError, match="silently become dense"):
        sparsify(lambda m: m + 1)(M)
    with pytest.raises(NotImplementedError, match="would be dense"):
        sparsify(lambda m: lax.integer_pow(m, -1))(M)


def test_a_rule_of_ones_own():
    twice_p = Primitive("twice_for_sparsify")
    twice_p.def_abstract_eval(lambda x: x)
    rules = registry().table("sparse.sparsify")
    rules.set(twice_p, lambda carrier, args, params: args[0] * 2)
    np.testing.assert_array_equal(np.asarray(sparsify(twice_p.bind)(M).todense()), 2 * X)
