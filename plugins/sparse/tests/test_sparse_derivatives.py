"""Derivatives with respect to sparse arrays, random ones, and sparse linear algebra."""

import numpy as np
import pytest
import scipy.sparse

import dovetail
import dovetail.numpy as dnp
from dovetail.experimental import sparse
from dovetail.experimental.sparse import BCOO, CSR, linalg

X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 3.0]], np.float32)
V = dnp.array([1.0, 2.0, 3.0])


def squares(m, v):
    return (m @ v) ** 2


def test_gradients_are_sparse():
    mat = BCOO.fromdense(X)
    wanted = np.asarray(dovetail.grad(lambda x: squares(x, V).sum())(X))
    total = sparse.grad(lambda m, v: squares(m, v).sum(), argnums=(0, 1))
    result, by_v = total(mat, V)
    assert isinstance(result, BCOO) and result.indices_sorted
    np.testing.assert_allclose(result.todense(), wanted * (X != 0), rtol=1e-6)
    np.testing.assert_allclose(by_v, 2 * X.T @ X @ np.asarray(V), rtol=1e-6)
    csr = sparse.grad(lambda m: squares(m, V).sum())(CSR.fromdense(X))
    np.testing.assert_allclose(csr.todense(), wanted * (X != 0), rtol=1e-6)
    (value, aux), result = sparse.value_and_grad(
        lambda d: (squares(d["m"], d["v"]).sum(), "aux"), has_aux=True
    )({"m": mat, "v": V})
    assert (float(value), aux) == (float(squares(X, V).sum()), "aux")
    np.testing.assert_allclose(result["m"].todense(), wanted * (X != 0), rtol=1e-6)
    _, aux = sparse.grad(lambda m: (squares(m, V).sum(), 3), has_aux=True)(mat)
    assert aux == 3


@pytest.mark.parametrize("jac", [sparse.jacfwd, sparse.jacrev, sparse.jacobian])
def test_jacobians_have_the_results_axes_as_batches(jac):
    mat = BCOO.fromdense(X)
    wanted = np.asarray(dovetail.jacfwd(squares)(X, V)) * (X != 0)
    result = jac(squares)(mat, V)
    assert (result.shape, result.n_batch) == ((2, 2, 3), 1)
    np.testing.assert_allclose(result.todense(), wanted, rtol=1e-6)
    result, aux = jac(lambda m, v: ({"y": squares(m, v)}, 7), argnums=(0, 1), has_aux=True)(mat, V)
    assert aux == 7 and isinstance(result["y"], tuple)
    np.testing.assert_allclose(result["y"][0].todense(), wanted, rtol=1e-6)
    np.testing.assert_allclose(result["y"][1], dovetail.jacrev(squares, 1)(X, V), rtol=1e-6)


def test_random():
    key = dovetail.random.key(0)
    mat = sparse.random_bcoo(key, (4, 5), dtype="float32")
    assert (mat.nse, mat.dtype, mat.shape) == (4, np.float32, (4, 5))
    assert len({tuple(i) for i in np.asarray(mat.indices).tolist()}) == 4
    many = sparse.random_bcoo(
        key, (3, 4, 2), nse=3, n_batch=1, n_dense=1, indices_dtype="uint8", sorted_indices=True,
        generator=dovetail.random.normal,
    )  # fmt: skip
    assert (many.data.shape, many.indices.shape) == ((3, 3, 2), (3, 3, 1))
    assert many.indices.dtype == np.uint8 and (np.diff(np.asarray(many.indices)[..., 0]) > 0).all()
    assert sparse.random_bcoo(key, (2, 2), nse=9, unique_indices=False).nse == 9
    with pytest.raises(ValueError, match="of 4 elements"):
        sparse.random_bcoo(key, (2, 2), nse=5)


def test_spsolve():
    dense = np.array([[2.0, 0, 1], [0, 3, 0], [5, 0, 4]], np.float32)
    mat, b = CSR.fromdense(dense), dnp.array([1.0, 2.0, 3.0])

    def solve(data, b):
        return linalg.spsolve(data, mat.indices, mat.indptr, b)

    wanted = np.linalg.solve(dense, np.asarray(b))
    np.testing.assert_allclose(solve(mat.data, b), wanted, rtol=1e-5)
    np.testing.assert_allclose(dovetail.jit(solve)(mat.data, b), wanted, rtol=1e-5)
    by_data, by_b = dovetail.jacrev(solve, argnums=(0, 1))(mat.data, b)
    np.testing.assert_allclose(by_b, np.linalg.inv(dense), rtol=1e-5, atol=1e-6)
    full = dovetail.jacfwd(dnp.linalg.solve)(dnp.asarray(dense), b)
    np.testing.assert_allclose(by_data, np.asarray(full)[:, dense != 0], rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="n \\+ 1"):
        linalg.spsolve(mat.data, mat.indices, mat.indptr, b[:2])
    with pytest.raises(TypeError, match="int32"):
        solve(mat.data, dnp.arange(3))


def test_lobpcg():
    dense = scipy.sparse.random(60, 60, 0.1, random_state=np.random.default_rng(0)).toarray()
    dense = (dense @ dense.T + np.diag(np.arange(60.0) / 20)).astype(np.float32)
    start = np.random.default_rng(1).normal(size=(60, 3)).astype(np.float32)
    wanted = np.linalg.eigvalsh(dense)[::-1][:3]
    for matrix in (dense, BCOO.fromdense(dense), lambda x: dense @ x):
        theta, vectors, steps = linalg.lobpcg_standard(matrix, start, m=200, tol=1e-6)
        np.testing.assert_allclose(theta, wanted, rtol=1e-4)
        np.testing.assert_allclose(dense @ vectors, vectors * theta, atol=2e-2)
        assert 0 < int(steps) < 200
    with pytest.raises(ValueError, match="5 k < n"):
        linalg.lobpcg_standard(dense, dense)
    with pytest.raises(ValueError, match="dtype"):
        linalg.lobpcg_standard(dense.astype(int), start)
