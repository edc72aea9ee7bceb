"""BCOO: conversion, arithmetic, shapes and products, against dense NumPy and SciPy."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail.experimental import sparse
from dovetail.experimental.sparse import BCOO

LAYOUTS = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (3, 0), (0, 3), (2, 1)]


def dense(shape, dtype=np.float32, seed=0, density=0.4):
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 9, shape) * rng.choice([-1, 1], shape)
    return (values * (rng.random(shape) < density)).astype(dtype)


def check(result, wanted, **kwargs):
    wanted = np.asarray(wanted)
    got = np.asarray(result.todense() if isinstance(result, BCOO) else result)
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol=1e-5, **kwargs)


def stored(x, n_batch=0, n_dense=0, extra=0):
    """``x`` in BCOO format, with some padding."""
    nse = BCOO.fromdense(x, n_batch=n_batch, n_dense=n_dense).nse
    return BCOO.fromdense(x, n_batch=n_batch, n_dense=n_dense, nse=nse + extra)


def twice(mat):
    """The same array with each element stored in two halves, out of order."""
    data = dnp.concatenate([mat.data[::-1] / 2, mat.data / 2])
    return BCOO((data, dnp.concatenate([mat.indices[::-1], mat.indices])), shape=mat.shape)


@pytest.mark.parametrize("dtype", ["float32", "int32", "complex64", "bool", "bfloat16", "uint8"])
def test_roundtrip(dtype):
    x = dense((3, 4), "float32").astype(dnp.dtype(dtype))
    mat = BCOO.fromdense(x)
    assert mat.dtype == x.dtype and mat.indices.dtype == np.int32
    assert mat.nse == np.count_nonzero(x != 0) and mat.indices_sorted
    np.testing.assert_array_equal(np.asarray(mat.todense()), x)
    padded = BCOO.fromdense(x, nse=11)
    np.testing.assert_array_equal(np.asarray(padded.todense()), x)
    assert BCOO.fromdense(x, index_dtype=np.int16).indices.dtype == np.int16


@pytest.mark.parametrize("n_batch,n_dense", LAYOUTS)
def test_layouts(n_batch, n_dense):
    x = dense((2, 3, 4))
    mat = stored(x, n_batch, n_dense, extra=2)
    assert (mat.n_batch, mat.n_dense, mat.n_sparse) == (n_batch, n_dense, 3 - n_batch - n_dense)
    check(mat, x)
    check(mat.sort_indices(), x)
    check(mat.sum_duplicates(), x)
    check(mat.sum_duplicates(nse=mat.nse), x)
    check(-mat, -x)
    check(abs(mat), abs(x))
    check(mat * 3, 3 * x)
    check(mat / 2, x / 2)
    check(mat**2, x**2)
    check(mat + mat, 2 * x)
    check(mat - 3 * mat, -2 * x)
    check(mat + x, 2 * x)
    check(x - mat, 0 * x)
    check(mat * x, x * x)
    check(x[0] * mat, x * x[0])
    check(mat * x[:, :1], x * x[:, :1])
    check(mat * mat, x * x)
    check(mat.sum(), x.sum())
    for axes in [(0,), (1,), (2,), (0, 2), (-1,)]:
        check(mat.sum(axes), x.sum(axes))
    for n, d in LAYOUTS:
        check(mat.update_layout(n_batch=n, n_dense=d, on_inefficient=None), x)
    check(sparse.bcoo_extract(mat, x + 1), (x + 1) * (np.asarray(ones_like(mat)) != 0))
    check(sparse.bcoo_rev(mat, (0, 2)), x[::-1, :, ::-1])
    check(mat.astype(int), x.astype(int))


def ones_like(mat):
    return sparse.todense(BCOO((dnp.ones_like(mat.data), mat.indices), shape=mat.shape))


@pytest.mark.parametrize("n_batch,n_dense", LAYOUTS)
def test_indexing(n_batch, n_dense):
    x = dense((3, 4, 5), seed=n_batch)
    mat = stored(x, n_batch, n_dense, extra=1)
    picks = [
        0, -1, (0, 1), (slice(None), 2), (..., 3), slice(1, 3), slice(None, None, 2),
        slice(None, None, -1), (slice(2, 0, -1), slice(None), slice(4, 0, -2)), None,
        (slice(None), None, 1), (0, 1, 2), np.array([0, 2]), np.array([[0, -1], [2, 1]]),
        (slice(None), np.array([3, 0])), (np.array([0, 2]), np.array([1, 1])),
        (np.array([0, 2]), slice(None), np.array([1, 1])), np.array([True, False, True]),
        (1, np.array([3, 0])), (slice(0, 0),), (),
    ]  # fmt: skip
    for pick in picks:
        check(mat[pick], x[pick])
    assert len(mat) == 3
    for row, wanted in zip(mat, x):
        check(row, wanted)
    check(dovetail.jit(lambda m, i: m[:, i])(mat, 2), x[:, 2])
    check(mat[7], x[2])
    for pick, error in [
        ((0,) * 4, IndexError),
        (mat, IndexError),
        ("a", TypeError),
        (0.5, IndexError),
    ]:
        with pytest.raises(error):
            mat[pick]


@pytest.mark.parametrize("n_batch,n_dense", LAYOUTS)
def test_slices(n_batch, n_dense):
    x = dense((3, 4, 5), seed=1)
    mat = stored(x, n_batch, n_dense, extra=1)
    result = sparse.bcoo_slice(
        mat, start_indices=(1, 0, 1), limit_indices=(3, 3, 5), strides=(1, 2, 3)
    )
    check(result, x[1:3, 0:3:2, 1:5:3])
    for start in [(0, 1, 2), (2, 3, 4), (-1, -2, -2)]:
        result = dovetail.jit(lambda m, *i: sparse.bcoo_dynamic_slice(m, i, (2, 2, 2)))(mat, *start)
        check(result, lax.dynamic_slice(x, start, (2, 2, 2)))
    numbers = lax.GatherDimensionNumbers((0, 2), (1,), (0, 1))
    starts = np.array([[0, 1], [1, 3], [1, 0]])
    result = sparse.bcoo_gather(mat, starts, numbers, (2, 1, 5))
    check(result, lax.gather(x, starts, numbers, (2, 1, 5)))


@pytest.mark.parametrize("n_batch,n_dense", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_shapes(n_batch, n_dense):
    x = dense((2, 6, 4), seed=2)
    mat = stored(x, n_batch, n_dense, extra=2)
    check(sparse.bcoo_reshape(mat, new_sizes=(2, 2, 3, 2, 2)), x.reshape(2, 2, 3, 2, 2))
    check(mat.reshape(2, -1, 4), x)
    check(mat.reshape((2, 3, 2, 4)), x.reshape(2, 3, 2, 4))
    new = sparse.bcoo_broadcast_in_dim(mat, shape=(5, 2, 6, 4), broadcast_dimensions=(1, 2, 3))
    check(new, np.broadcast_to(x, (5, 2, 6, 4)))
    check(sparse.bcoo_concatenate([mat, mat * 2], dimension=0), np.concatenate([x, 2 * x]))
    check(sparse.bcoo_concatenate([mat, mat * 2], dimension=1), np.concatenate([x, 2 * x], 1))
    one = sparse.bcoo_slice(mat, start_indices=(0, 1, 0), limit_indices=(1, 2, 4))
    check(sparse.bcoo_squeeze(one, dimensions=(0, 1)), x[0, 1])
    if not n_dense and not n_batch:
        check(mat.T, x.T)
        check(mat.reshape(-1), x.ravel())
        flat = mat.reshape(48)
        joined = sparse.bcoo_concatenate([flat, flat], dimension=0)
        check(joined.sum_duplicates(), np.concatenate([x.ravel()] * 2))
    order = (0, 2, 1) if n_batch else (1, 0, 2)
    if not (n_batch and n_dense):
        check(mat.transpose(order), x.transpose(order))


def test_duplicates_and_padding():
    x = dense((3, 4))
    mat = twice(stored(x, extra=2))
    check(mat, x)
    check(mat.sum_duplicates(), x)
    assert mat.sum_duplicates().nse == np.count_nonzero(x)
    check(dovetail.jit(lambda m: m.sum_duplicates(nse=m.nse))(mat), x)
    check(mat**2, x**2)
    check(abs(mat), abs(x))
    check(mat * mat, x * x)
    check(mat @ x.T, x @ x.T)
    check(mat @ mat.T, x @ x.T)
    check(mat[1], x[1])
    check(sparse.bcoo_extract(mat, x), x)
    np.testing.assert_array_equal(sparse.bcoo_extract(mat, x, assume_unique=True).todense(), 2 * x)
    beyond = BCOO(([5.0, 7.0, 2.0], [[0, 9], [3, 0], [1, 1]]), shape=(3, 4))
    wanted = np.zeros((3, 4))
    wanted[1, 1] = 2
    check(beyond, wanted)
    check(beyond.sum(0), wanted.sum(0))
    check(beyond @ np.ones(4), wanted.sum(1))
    check(beyond.reshape(12), wanted.ravel())
    check(beyond.update_layout(n_batch=1, on_inefficient=None), wanted)
    zeros = BCOO(([0.0, 1.0], [[0], [1]]), shape=(3,))
    assert zeros.sum_duplicates().nse == 1
    assert zeros.sum_duplicates(remove_zeros=False).nse == 2
    assert sparse.bcoo_sum_duplicates(zeros).nse == 2


def test_empty():
    for shape in [(0,), (3, 0), (0, 4), (3, 4)]:
        mat = BCOO.fromdense(np.zeros(shape, np.float32))
        assert mat.nse == 0
        check(mat, np.zeros(shape))
        check(mat.sum_duplicates(), np.zeros(shape))
        check(mat.sum(), 0.0)
        check(mat.T, np.zeros(shape[::-1]))
    check(mat @ np.ones((4, 2)), np.zeros((3, 2)))
    check(mat @ mat.T, np.zeros((3, 3)))
    check(mat[1:], np.zeros((2, 4)))
    check(sparse.empty((3, 4), nse=2, n_batch=1), np.zeros((3, 4)))
    assert sparse.empty((3, 4)).dtype == np.float32
    check(BCOO.fromdense(np.float32(2)), np.float32(2))
    check(BCOO.fromdense(np.float32(2)) * 3, np.float32(6))
    check(BCOO(([1.0, 2.0], np.zeros((2, 0), int)), shape=()).sum_duplicates(), 3.0)


@pytest.mark.parametrize("k,layout", list(product([0, 1, -2, 7], LAYOUTS[:6])))
def test_eye(k, layout):
    mat = sparse.eye(3, 4, k, n_batch=layout[0], n_dense=layout[1])
    assert (mat.n_batch, mat.n_dense) == layout and mat.dtype == np.float32
    check(mat, np.eye(3, 4, k))


def test_scipy():
    x = dense((5, 4))
    for made in (scipy.sparse.csr_matrix, scipy.sparse.coo_matrix, scipy.sparse.csc_matrix):
        theirs = made(x)
        mat = BCOO.from_scipy_sparse(theirs)
        check(mat, x)
        check(mat @ x.T, theirs @ x.T)
        check(mat @ mat.T, (theirs @ theirs.T).toarray())
        check(mat + mat, (theirs + theirs).toarray())
        check(mat * mat, theirs.multiply(theirs).toarray())
    assert BCOO.from_scipy_sparse(theirs, index_dtype="int16").indices.dtype == np.int16
    with pytest.raises(NotImplementedError, match="nonzero n_dense/n_batch"):
        BCOO.from_scipy_sparse(theirs, n_batch=1)


def test_arithmetic_shapes():
    x, y = dense((3, 4)), dense((3, 4), seed=1)
    a, b, row = stored(x), stored(y, extra=2), stored(x[:1])
    check(a + b, x + y)
    check(a - b, x - y)
    check(a * b, x * y)
    check(a * row, x * x[:1])
    check(a * stored(x[0]), x * x[0])
    check(a / (y + 10), x / (y + 10))
    check(a + dnp.ones((2, 3, 4)), x + np.ones((2, 3, 4)))
    assert (a.astype(int) * 0.5).dtype == np.float32
    assert (a.astype(int) / 2).dtype == np.float32
    assert (a + a.astype(int)).dtype == np.float32
    assert a.astype("int8").sum(0).dtype == np.int32
    check(a.sum(1, keepdims=True), x.sum(1, keepdims=True))
    check(+a, x)
    for act in [
        lambda: a + 1, lambda: a + x[0], lambda: a + row, lambda: a + stored(x, 1),
        lambda: 2 / a, lambda: x / a, lambda: a**0, lambda: a**-1, lambda: a**0.5, lambda: 2**a,
        lambda: a == a, lambda: row * x, lambda: a * dnp.ones((2, 3, 4)),
    ]:  # fmt: skip
        with pytest.raises(NotImplementedError):
            act()
    with pytest.raises(TypeError, match="incompatible shapes"):
        _ = a * stored(dense((2, 4)))
    with pytest.raises(TypeError):
        hash(a)
    with pytest.raises(TypeError):
        a + "text"


def test_converted_duplicates():
    """The integer part of a sum, not the sum of integer parts."""
    mat = BCOO(([0.5, 0.5], [[1], [1]]), shape=(3,))
    check(mat.astype(int), [0, 1, 0])


def test_representation():
    mat = stored(dense((3, 4)), 1)
    assert repr(mat) == f"BCOO(float32[3, 4], nse={mat.nse}, n_batch=1)"
    shown = []
    dovetail.jit(lambda m: shown.append(repr(m)))(mat)
    assert "BCOO(float32[3, 4]" in shown[0] and shown[0] != repr(mat)
    assert mat.block_until_ready() is mat
    assert (mat.ndim, mat.size) == (2, 12)
    leaves, tree = dovetail.tree.flatten(mat)
    assert len(leaves) == 2 and repr(dovetail.tree.unflatten(tree, leaves)) == repr(mat)
    assert repr(dovetail.tree.unflatten(tree, [None, None])) == "BCOO(<invalid>)"


def test_errors():
    x = dense((3, 4))
    mat = stored(x)
    with pytest.raises(ValueError, match=r"Invalid data\.shape=\(2,\)"):
        BCOO((np.ones(2), np.zeros((2, 1), int)), shape=(3, 4))
    with pytest.raises(ValueError, match=r"Invalid indices\.shape"):
        BCOO((np.ones(2), np.zeros((2, 3), int)), shape=(3, 4))
    with pytest.raises(TypeError, match="must be integers"):
        BCOO((np.ones(2), np.zeros((2, 2))), shape=(3, 4))
    with pytest.raises(ValueError, match="at least two axes"):
        BCOO((np.ones(2), np.zeros(2, int)), shape=(3, 4))
    with pytest.raises(dovetail.errors.ConcretizationTypeError, match="pass nse"):
        dovetail.jit(BCOO.fromdense)(x)
    with pytest.raises(ValueError, match="nse must be specified"):
        dovetail.jit(lambda m: m.sum_duplicates())(mat)
    with pytest.raises(ValueError, match="non-negative"):
        BCOO.fromdense(x, nse=-1)
    with pytest.raises(ValueError, match="n_batch=3"):
        BCOO.fromdense(x, n_batch=3)
    with pytest.raises(NotImplementedError, match="batch axes with non-batch"):
        _ = stored(x, 1).T
    with pytest.raises(NotImplementedError, match="dense axes with non-dense"):
        _ = stored(x, 0, 1).T
    with pytest.raises(ValueError, match="is not one of the 2 axes"):
        mat.transpose((0, 0))
    with pytest.raises(sparse.SparseEfficiencyError, match="increasing n_batch from 0 to 1"):
        mat.update_layout(n_batch=1)
    with pytest.warns(sparse.SparseEfficiencyWarning, match="increasing n_dense from 0 to 1"):
        mat.update_layout(n_dense=1, on_inefficient="warn")
    with pytest.raises(ValueError, match="must be non-negative; got -1"):
        mat.update_layout(n_batch=-1)
    with pytest.raises(ValueError, match="cannot be larger"):
        mat.update_layout(n_batch=2, n_dense=1)
    with pytest.raises(ValueError, match="not recognized"):
        sparse.empty((3,), sparse_format="x")


def test_errors_of_functions():
    x = dense((3, 4))
    mat, batched, rows = stored(x), stored(x, 1), stored(x, 0, 1)
    with pytest.raises(NotImplementedError, match="lengths != 1"):
        sparse.bcoo_broadcast_in_dim(mat, shape=(3, 4, 2), broadcast_dimensions=(0, 1))
    with pytest.raises(ValueError, match="increasing order"):
        sparse.bcoo_broadcast_in_dim(mat, shape=(3, 4), broadcast_dimensions=(1, 0))
    with pytest.raises(ValueError, match="non-empty"):
        sparse.bcoo_concatenate([], dimension=0)
    with pytest.raises(ValueError, match="matching batch"):
        sparse.bcoo_concatenate([mat, batched], dimension=0)
    with pytest.raises(NotImplementedError, match="along dense"):
        sparse.bcoo_concatenate([rows, rows], dimension=1)
    with pytest.raises(TypeError, match="out of bounds"):
        sparse.bcoo_concatenate([mat, mat], dimension=2)
    with pytest.raises(TypeError, match="differ in dimensions"):
        sparse.bcoo_concatenate([mat, mat.T], dimension=0)
    with pytest.raises(ValueError, match="mix batch and sparse"):
        sparse.bcoo_reshape(batched, new_sizes=(12,))
    with pytest.raises(ValueError, match="mix sparse and dense"):
        sparse.bcoo_reshape(mat, new_sizes=(5, 2))
    with pytest.raises(ValueError, match="size not equal to one"):
        sparse.bcoo_squeeze(mat, dimensions=(0,))
    with pytest.raises(ValueError, match="invalid indices"):
        sparse.bcoo_slice(mat, start_indices=(0, 0), limit_indices=(4, 4))
    with pytest.raises(ValueError, match="one entry for each axis"):
        sparse.bcoo_slice(mat, start_indices=(0,), limit_indices=(4,))
    with pytest.raises(ValueError, match="Length of slice indices"):
        sparse.bcoo_dynamic_slice(mat, (0,), (1,))
    with pytest.raises(TypeError, match="less than or equal"):
        sparse.bcoo_dynamic_slice(mat, (0, 0), (4, 4))
    with pytest.raises(ValueError, match="shape mismatch"):
        sparse.bcoo_extract(mat, x.T)
    with pytest.raises(TypeError, match="should be a BCOO"):
        sparse.bcoo_extract(mat.indices, x)
    with pytest.raises(ValueError, match="out of bounds"):
        sparse.bcoo_reduce_sum(mat, axes=(2,))
    with pytest.raises(TypeError, match="same number of dimensions"):
        sparse.bcoo_multiply_sparse(mat, stored(x[0]))
    with pytest.raises(NotImplementedError, match="differing numbers of dense"):
        sparse.bcoo_multiply_sparse(mat, rows)
    with pytest.raises(ValueError, match="incompatible shapes"):
        sparse.bcoo_multiply_dense(mat, dnp.ones((2, 4)))
