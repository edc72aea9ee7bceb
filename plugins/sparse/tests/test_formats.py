"""The formats BCSR, COO, CSR and CSC, against SciPy."""

import numpy as np
import pytest
import scipy.sparse

import dovetail
import dovetail.numpy as dnp
from dovetail.experimental import sparse
from dovetail.experimental.sparse import BCOO, BCSR, COO, CSC, CSR

X = np.array([[0.0, 1.5, 0.0, -2.0], [0.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.5, 0.0]], np.float32)
SCIPY = {BCSR: scipy.sparse.csr_matrix, CSR: scipy.sparse.csr_matrix, CSC: scipy.sparse.csc_matrix}


@pytest.mark.parametrize("kind", [BCSR, COO, CSR, CSC])
def test_of_dense_matrices(kind):
    mat = kind.fromdense(X)
    assert (mat.shape, mat.nse, mat.dtype) == (X.shape, 4, np.float32)
    assert repr(mat) == f"{kind.__name__}(float32[3, 4], nse=4)"
    np.testing.assert_array_equal(mat.todense(), X)
    compiled = dovetail.jit(lambda x: kind.fromdense(x, nse=6))(X)
    assert compiled.nse == 6
    np.testing.assert_array_equal(compiled.todense(), X)
    np.testing.assert_array_equal(kind.fromdense(X, nse=3).todense().size, X.size)
    assert kind.fromdense(X, index_dtype=np.int16).tree_flatten()[0][1].dtype == np.int16


@pytest.mark.parametrize("kind", SCIPY)
def test_parts_are_those_of_scipy(kind):
    mat, wanted = kind.fromdense(X), SCIPY[kind](X)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(mat, name), getattr(wanted, name))
    padded = kind.fromdense(X, nse=7)
    np.testing.assert_array_equal(padded.indptr, wanted.indptr)


def test_coo_is_that_of_scipy():
    mat, wanted = COO.fromdense(X), scipy.sparse.coo_matrix(X)
    for name in ("data", "row", "col"):
        np.testing.assert_array_equal(getattr(mat, name), getattr(wanted, name))
    assert (mat.rows_sorted, mat.cols_sorted, mat.T.cols_sorted) == (True, False, True)


@pytest.mark.parametrize("kind", [BCSR, COO, CSR, CSC])
def test_products(kind):
    mat = kind.fromdense(X, nse=6)
    v, B = np.arange(4, dtype=np.float32), np.arange(8, dtype=np.int32).reshape(4, 2)
    for run in (lambda m, x: m @ x, dovetail.jit(lambda m, x: m @ x)):
        np.testing.assert_allclose(run(mat, v), X @ v)
        np.testing.assert_allclose(run(mat, B), X @ B)
    assert (mat @ B).dtype == np.float32
    if kind is BCSR:
        np.testing.assert_allclose(np.ones(3) @ mat, X.sum(0))
        return
    np.testing.assert_allclose(mat.T @ np.ones(3, np.float32), X.sum(0))
    np.testing.assert_array_equal(mat.T.todense(), X.T)
    assert mat.transpose((1, 0)).shape == (4, 3)
    with pytest.raises(NotImplementedError, match="two sparse matrices"):
        mat @ mat
    with pytest.raises(NotImplementedError, match="one axis or two"):
        mat @ dnp.ones((4, 2, 2))
    with pytest.raises(NotImplementedError, match="axes"):
        mat.transpose((0, 1))
    with pytest.raises(ValueError, match="two axes"):
        kind(mat.tree_flatten()[0], shape=(3, 4, 1))


def test_functions():
    v, w = np.arange(4.0, dtype=np.float32), np.arange(3.0, dtype=np.float32)
    coo, csr = sparse.coo_fromdense(X), sparse.csr_fromdense(X)
    np.testing.assert_array_equal(sparse.coo_todense(coo), sparse.csr_todense(csr))
    for mat, vec, many in (
        (coo, sparse.coo_matvec, sparse.coo_matmat),
        (csr, sparse.csr_matvec, sparse.csr_matmat),
    ):
        np.testing.assert_allclose(vec(mat, v), X @ v)
        np.testing.assert_allclose(vec(mat, w, transpose=True), X.T @ w)
        np.testing.assert_allclose(many(mat, v[:, None]), X @ v[:, None])
        with pytest.raises(TypeError, match="with 1 axes"):
            vec(mat, v[:, None])


def test_made_from_nothing():
    for name in ("bcoo", "bcsr", "coo", "csr", "csc"):
        made = sparse.empty((2, 3), dtype="int8", sparse_format=name)
        assert made.nse == 0 and made.dtype == np.int8
        np.testing.assert_array_equal(made.todense(), np.zeros((2, 3)))
    for name in ("bcoo", "coo", "csr", "csc"):
        for k in (-1, 0, 2):
            made = sparse.eye(3, 4, k, sparse_format=name)
            np.testing.assert_array_equal(made.todense(), np.eye(3, 4, k))
    with pytest.raises(NotImplementedError, match="BCSR"):
        sparse.eye(3, sparse_format="bcsr")
    with pytest.raises(ValueError, match="not recognized"):
        sparse.empty((2, 3), sparse_format="dia")


def test_bcsr_has_batches_and_dense_axes():
    x = np.stack([X, X * (X > 0)])
    mat = BCSR.fromdense(x, n_batch=1)
    assert (mat.n_batch, mat.n_sparse, mat.n_dense, mat.nse) == (1, 2, 0, 4)
    assert repr(mat) == "BCSR(float32[2, 3, 4], nse=4, n_batch=1)"
    np.testing.assert_array_equal(mat.todense(), x)
    np.testing.assert_array_equal(dovetail.vmap(lambda m: m.todense())(mat), x)
    mapped = dovetail.vmap(lambda x: BCSR.fromdense(x, nse=5))(x)
    assert mapped.shape == x.shape
    np.testing.assert_array_equal(mapped.todense(), x)
    dense = BCSR.fromdense(x, n_dense=1)
    assert (dense.n_dense, dense.data.shape) == (1, (4, 4))
    np.testing.assert_array_equal(dense.todense(), x)
    with pytest.raises(ValueError, match="in_axis=0"):
        dovetail.vmap(lambda m: m)(BCSR.fromdense(X))
    with pytest.raises(ValueError, match="do not fit shape"):
        BCSR((np.ones(2), np.zeros(2, int), np.zeros(3, int)), shape=(3, 4))


def test_functions_on_bcsr():
    mat = sparse.bcsr_fromdense(X)
    np.testing.assert_array_equal(sparse.bcsr_todense(mat), X)
    np.testing.assert_array_equal(BCSR.from_scipy_sparse(scipy.sparse.coo_matrix(X)).todense(), X)
    np.testing.assert_array_equal(sparse.bcsr_extract(mat.indices, mat.indptr, 2 * X), 2 * mat.data)
    joined = sparse.bcsr_concatenate([mat, mat], dimension=0)
    np.testing.assert_array_equal(joined.todense(), np.concatenate([X, X]))
    more = sparse.bcsr_broadcast_in_dim(mat, shape=(2, 3, 4), broadcast_dimensions=(1, 2))
    np.testing.assert_array_equal(more.todense(), np.broadcast_to(X, (2, 3, 4)))
    numbers = (((0,), (0,)), ((), ()))
    result = sparse.bcsr_dot_general(mat, np.ones((3, 2), np.float32), dimension_numbers=numbers)
    np.testing.assert_allclose(result, X.T @ np.ones((3, 2)))
    doubled = BCSR((np.ones(2), np.zeros(2, int), np.array([0, 2])), shape=(1, 3))
    once = sparse.bcsr_sum_duplicates(doubled, nse=1)
    np.testing.assert_array_equal((once.data, once.indices), [[2.0], [0]])
    assert sparse.sparsify(lambda m: -m)(mat).__class__ is BCSR
    with pytest.raises(NotImplementedError, match="two sparse axes"):
        BCSR.from_bcoo(BCOO.fromdense(X[0]))
