"""Contractions of arrays in BCOO format, against dense NumPy."""

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail.experimental import sparse
from dovetail.experimental.sparse import BCOO

DENSE_CASES = [
    # shapes, dimension numbers, layouts of the sparse operand
    ((3, 4), (4, 5), (((1,), (0,)), ((), ())), [(0, 0), (1, 0), (2, 0)]),
    ((3, 4), (3, 5), (((0,), (0,)), ((), ())), [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0)]),
    ((3, 4), (3, 4), (((0, 1), (0, 1)), ((), ())), [(0, 0), (1, 0), (2, 0)]),
    ((3, 4), (5, 2), (((), ()), ((), ())), [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2)]),
    ((3, 4), (3, 4), (((1,), (1,)), ((0,), (0,))), [(1, 0), (2, 0)]),
    ((2, 3, 4), (2, 4, 5), (((2,), (1,)), ((0,), (0,))), [(1, 0), (2, 0), (3, 0)]),
    ((2, 3, 4), (4, 3), (((2, 1), (0, 1)), ((), ())), [(0, 0), (1, 0), (2, 0)]),
    ((2, 3, 4), (3, 2, 5), (((1,), (0,)), ((0,), (1,))), [(1, 0), (1, 1), (2, 1)]),
    ((2, 3, 4), (2, 4, 3), (((), ()), ((0, 1), (0, 2))), [(2, 0), (2, 1), (3, 0)]),
]


def dense(shape, seed=0, density=0.5):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) * (rng.random(shape) < density)).astype(np.float32)


def value(x):
    return np.asarray(x.todense() if isinstance(x, BCOO) else x)


def swapped(numbers):
    (a, b), (c, d) = numbers
    return ((b, a), (d, c))


@pytest.mark.parametrize("case", range(len(DENSE_CASES)))
def test_with_dense(case):
    left, right, numbers, layouts = DENSE_CASES[case]
    x, y = dense(left), dense(right, 1, 1)
    wanted, backwards = (
        np.asarray(lax.dot_general(*a)) for a in ((x, y, numbers), (y, x, swapped(numbers)))
    )
    for n_batch, n_dense in layouts:
        nse = BCOO.fromdense(x, n_batch=n_batch, n_dense=n_dense).nse
        mat = BCOO.fromdense(x, n_batch=n_batch, n_dense=n_dense, nse=nse + 2)
        result = sparse.bcoo_dot_general(mat, y, dimension_numbers=numbers)
        np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5)
        result = sparse.bcoo_dot_general(y, mat, dimension_numbers=swapped(numbers))
        np.testing.assert_allclose(result, backwards, rtol=1e-4, atol=1e-5)


SPARSE_CASES = [
    ((3, 4), (4, 5), (((1,), (0,)), ((), ())), [(0, 0), (1, 0), (0, 1), (1, 1), (2, 2)]),
    ((3, 4), (3, 4), (((0, 1), (0, 1)), ((), ())), [(0, 0), (1, 0)]),
    ((3, 4), (5, 2), (((), ()), ((), ())), [(0, 0), (1, 0), (0, 1)]),
    ((2, 3, 4), (2, 4, 5), (((2,), (1,)), ((0,), (0,))), [(1, 1), (2, 1), (1, 2)]),
    ((2, 3, 4), (2, 3, 4), (((0, 2), (0, 2)), ((), ())), [(0, 0), (1, 1), (2, 0)]),
]


@pytest.mark.parametrize("case", range(len(SPARSE_CASES)))
def test_with_sparse(case):
    left, right, numbers, layouts = SPARSE_CASES[case]
    x, y = dense(left), dense(right, 1)
    wanted = np.asarray(lax.dot_general(x, y, numbers))
    for a, b in layouts:
        lhs, rhs = BCOO.fromdense(x, n_batch=a), BCOO.fromdense(y, n_batch=b)
        rhs = BCOO.fromdense(y, n_batch=b, nse=rhs.nse + 1)
        result = sparse.bcoo_dot_general(lhs, rhs, dimension_numbers=numbers)
        assert isinstance(result, BCOO)
        np.testing.assert_allclose(value(result), wanted, rtol=1e-4, atol=1e-5)
        compiled = dovetail.jit(
            lambda p, q: sparse.bcoo_dot_general(p, q, dimension_numbers=numbers)
        )
        np.testing.assert_allclose(value(compiled(lhs, rhs)), wanted, rtol=1e-4, atol=1e-5)


def test_matmul():
    x, y = dense((2, 3, 4)), dense((2, 4, 5), 1)
    a, b = BCOO.fromdense(x, n_batch=1), BCOO.fromdense(y, n_batch=1)
    for left, right in [(a, b), (a, y), (x, b), (a, dnp.asarray(y)), (dnp.asarray(x), b)]:
        np.testing.assert_allclose(value(left @ right), x @ y, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(value(a @ y[0]), x @ y[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(value(x[0] @ b), x[0] @ y, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(value(x[0, 0] @ b), x[0, 0] @ y, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(value(a @ y[0, :, 0]), x @ y[0, :, 0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(value(x[0] @ b[0]), x[0] @ y[0], rtol=1e-4, atol=1e-5)
    vector = BCOO.fromdense(x[0, 0])
    assert (vector @ vector).shape == ()
    np.testing.assert_allclose(value(vector @ y[0]), x[0, 0] @ y[0], rtol=1e-4, atol=1e-5)
    with pytest.raises(TypeError, match="same shape"):
        _ = vector @ np.ones(3)
    with pytest.raises(TypeError, match="must have axes"):
        _ = vector @ 2.0


def test_dtypes():
    x = BCOO.fromdense(np.eye(3, dtype=np.int32))
    assert (x @ np.ones(3, np.float32)).dtype == np.float32
    assert (np.ones(3, np.int32) @ x).dtype == np.int32
    numbers = (((1,), (0,)), ((), ()))
    for y in (np.ones(3, np.int32), x):
        result = sparse.bcoo_dot_general(
            x, y, dimension_numbers=numbers, preferred_element_type=np.float32
        )
        assert result.dtype == np.float32


def test_sampled():
    x, y = dense((2, 3, 4)), dense((2, 4, 5), 1)
    numbers = (((2,), (1,)), ((0,), (0,)))
    wanted = x @ y
    for n_batch in range(4):
        mat = BCOO.fromdense(dense((2, 3, 5), 2), n_batch=n_batch)
        result = sparse.bcoo_dot_general_sampled(x, y, mat.indices, dimension_numbers=numbers)
        np.testing.assert_allclose(
            result, sparse.bcoo_extract(mat, wanted).data, rtol=1e-4, atol=1e-5
        )
    rows = np.array([[0, 1], [1, 2], [2, 0]])
    result = sparse.bcoo_dot_general_sampled(x, y, rows, dimension_numbers=numbers)
    np.testing.assert_allclose(
        result, [wanted[0, 1], wanted[1, 2], np.zeros(5)], rtol=1e-4, atol=1e-5
    )


def test_convolution():
    x, w = dense((1, 1, 9)), dense((1, 1, 3), 1, 1)
    for padding in ("VALID", "SAME", [(2, 1)]):
        wanted = lax.conv_general_dilated(x, w, (1,), padding)
        for left, right in [(0, 0), (2, 2), (0, None), (None, 1)]:
            a = x if left is None else BCOO.fromdense(x, n_batch=left)
            b = w if right is None else BCOO.fromdense(w, n_batch=right)
            result = sparse.bcoo_conv_general_dilated(a, b, window_strides=(1,), padding=padding)
            np.testing.assert_allclose(value(result), wanted, rtol=1e-4, atol=1e-5)
    with pytest.raises(NotImplementedError, match="window_strides"):
        sparse.bcoo_conv_general_dilated(a, b, window_strides=(2,), padding="VALID")
    with pytest.raises(NotImplementedError, match="several batches or channels"):
        sparse.bcoo_conv_general_dilated(
            BCOO.fromdense(np.ones((1, 2, 5)), n_batch=2), np.ones((1, 2, 3)),
            window_strides=(1,), padding="VALID",
        )  # fmt: skip


def test_errors():
    x = dense((3, 4))
    rows, mat = BCOO.fromdense(x, n_dense=1), BCOO.fromdense(x)
    with pytest.raises(NotImplementedError, match="contracting over dense"):
        _ = rows @ x.T
    with pytest.raises(NotImplementedError, match="among the batch dimensions"):
        sparse.bcoo_dot_general(mat, x, dimension_numbers=(((1,), (1,)), ((0,), (0,))))
    with pytest.raises(NotImplementedError, match="of both sparse"):
        sparse.bcoo_dot_general(mat, mat, dimension_numbers=(((1,), (1,)), ((0,), (0,))))
    with pytest.raises(NotImplementedError, match="has dense axes"):
        _ = rows @ mat.T
    with pytest.raises(TypeError, match="both operands have"):
        sparse.bcoo_dot_general(mat, x, dimension_numbers=(((2,), (0,)), ((), ())))
