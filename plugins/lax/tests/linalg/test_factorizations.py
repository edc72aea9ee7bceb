"""Cholesky, LU, QR and triangular solves: the defining equations, failures, derivatives."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import jvp, vjp
from dovetail_batching import vmap
from dovetail_core import ShapedArray, enable_x64, stage
from dovetail_jit import jit
from dovetail_lax import linalg
from dovetail_testing import (
    assert_close,
    assert_near,
    assert_same,
    finite_difference_with_error,
)

RNG = np.random.default_rng(0)
DTYPES = ["float32", "float64", "complex64", "complex128"]


@pytest.fixture(autouse=True)
def double_precision():
    with enable_x64(True):
        yield


def normal(shape, dtype="float64"):
    x = RNG.normal(size=shape)
    return (x + 1j * RNG.normal(size=shape)).astype(dtype) if "c" in dtype else x.astype(dtype)


def positive(shape, dtype="float64"):
    x = normal(shape, dtype)
    return (x @ adjoint(x) + 2 * np.eye(shape[-1])).astype(dtype)


def adjoint(x):
    return np.asarray(x).conj().swapaxes(-1, -2)


def assert_equal_by_norm(result, expected, factor=256):
    """Factorizations are as exact as the whole matrix, or all its eigenvalues: not each entry."""
    scale = np.abs(expected).max(initial=0)
    assert_close(result, expected, factor=factor, scale=scale)


def agrees_with_differences(f, *args):
    """Tangents in a random direction agree with finite differences of ``f``'s results."""
    tangents = [normal(np.shape(x), x.dtype.name) for x in args]
    result = jvp(lambda *xs: tuple(f(*xs)), args, tuple(tangents))[1]
    expected = finite_difference_with_error(lambda *xs: f(*xs), args, tangents)
    for t, (e, error) in zip(result, expected, strict=True):
        assert_near(t, e, 1e-6, atol=error)


@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky(dtype):
    x = positive((2, 3, 3), dtype)
    result = np.asarray(linalg.cholesky(x))
    assert result.dtype == dtype
    assert_same(np.triu(result, 1), np.zeros_like(x))
    assert_close(result @ adjoint(result), x, factor=256)
    spoiled = x + np.triu(np.ones((3, 3)), 1).astype(dtype)
    assert_close(linalg.cholesky(spoiled, symmetrize_input=False), result)
    half = (spoiled + adjoint(spoiled)) / 2
    assert_close(linalg.cholesky(spoiled), np.linalg.cholesky(half), factor=256)


def test_cholesky_of_what_is_not_positive_definite_is_nan_for_that_matrix_alone():
    result = np.asarray(linalg.cholesky(np.stack([np.eye(2), -np.eye(2)])))
    assert_same(result[0], np.eye(2))
    assert np.isnan(result[1][np.tril_indices(2)]).all()


@pytest.mark.parametrize("dtype", DTYPES[1::2])
def test_derivatives_of_cholesky(dtype):
    agrees_with_differences(lambda x: [linalg.cholesky(x)], positive((3, 3), dtype))
    agrees_with_differences(
        lambda x: [linalg.cholesky(x, symmetrize_input=False)], positive((2, 3, 3), dtype)
    )


FLAGS = list(product([False, True], repeat=5))
NAMES = ("left_side", "lower", "transpose_a", "conjugate_a", "unit_diagonal")


@pytest.mark.parametrize("flags", FLAGS)
def test_triangular_solves(flags):
    given = dict(zip(NAMES, flags))
    dtype = "complex128" if given["conjugate_a"] else "float64"
    a = normal((2, 3, 3), dtype) + 3 * np.eye(3)
    b = normal((2, 3, 2) if given["left_side"] else (2, 2, 3), dtype)
    op = np.tril(a) if given["lower"] else np.triu(a)
    if given["unit_diagonal"]:
        op = op - op * np.eye(3) + np.eye(3)
    op = op.conj() if given["conjugate_a"] else op
    op = op.swapaxes(1, 2) if given["transpose_a"] else op
    x = np.asarray(linalg.triangular_solve(a, b, **given))
    assert_close(op @ x if given["left_side"] else x @ op, b, factor=256)
    agrees_with_differences(lambda a, b: [linalg.triangular_solve(a, b, **given)], a, b)
    ct = normal(b.shape, dtype)
    (pulled,) = vjp(lambda b: linalg.triangular_solve(a, b, **given), b)[1](ct)
    assert_near(np.sum(np.asarray(pulled) * b), np.sum(ct * x), 1e-10)


def test_triangular_solves_of_vectors_and_of_one_matrix_for_all():
    a, vectors = np.tril(positive((3, 3))), normal((5, 3))
    expected = np.linalg.solve(a, vectors.T).T

    def solved(b):
        return linalg.triangular_solve(a, b, left_side=True, lower=True)

    assert_close(solved(vectors[0]), expected[0])
    assert_close(vmap(solved)(vectors), expected)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("left", [True, False])
def test_one_triangular_matrix_for_all_solves_all_at_once(left, axis):
    a = np.tril(positive((3, 3)))
    batch = normal((5, 3, 2) if left else (5, 2, 3))

    def solve(b):
        return linalg.triangular_solve(a, b, left_side=left, lower=True)

    solutions = vmap(solve, in_axes=axis)
    moved = np.moveaxis(batch, 0, axis)
    assert_close(solutions(moved), np.stack([solve(b) for b in batch]))
    jaxpr, _ = stage(lambda b: [solutions(b)], [ShapedArray(moved.shape, moved.dtype)])
    (eqn,) = [e for e in jaxpr.eqns if e.primitive.name == "triangular_solve"]
    assert eqn.invars[0].aval.shape == (3, 3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 3)])
def test_lu(shape, dtype):
    x = normal(shape, dtype)
    factors, pivots, permutation = map(np.asarray, linalg.lu(x))
    m, n = shape[-2:]
    k = min(m, n)
    low = np.tril(factors, -1)[..., :k] + np.eye(m, k, dtype=dtype)
    rows = np.take_along_axis(x, permutation[..., None].astype(int), -2)
    assert_close(low @ np.triu(factors)[..., :k, :], rows, factor=256)
    assert (factors.dtype, pivots.dtype, permutation.dtype) == (dtype, "int32", "int32")
    assert_same(linalg.lu_pivots_to_permutation(pivots, m), permutation)
    if np.dtype(dtype).itemsize >= 8 and dtype != "complex64":
        agrees_with_differences(lambda x: [linalg.lu(x)[0]], x)


def test_lu_of_a_singular_matrix_is_still_a_factorization():
    factors, _, permutation = linalg.lu(np.array([[0.0, 1.0], [0.0, 2.0]]))
    assert np.isfinite(np.asarray(factors)).all()
    assert np.asarray(permutation).tolist() == [0, 1]


def test_swaps_of_rows_as_permutations():
    pivots = np.array([[2, 2, 2], [0, 1, 3]], np.int32)
    expected = np.array([[2, 0, 1, 3, 4], [0, 1, 3, 2, 4]], np.int32)
    assert_same(linalg.lu_pivots_to_permutation(pivots, 5), expected)
    assert_same(vmap(lambda p: linalg.lu_pivots_to_permutation(p, 5))(pivots), expected)


def test_swaps_of_rows_touch_two_elements_each():
    pivots = np.array([3, 2, 5, 3, 4, 5], np.uint8)
    result = jit(lambda p: linalg.lu_pivots_to_permutation(p, 7))
    assert result(pivots).tolist() == [3, 2, 5, 0, 4, 1, 6]
    text = result.lower(pivots).as_text()
    assert "dynamic_update_slice" in text and "reduce" not in text


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
def test_qr(shape, full, dtype):
    x = normal(shape, dtype)
    q, r = map(np.asarray, linalg.qr(x, full_matrices=full))
    m, n = shape[-2:]
    k = m if full else min(m, n)
    assert (q.shape[-2:], r.shape[-2:]) == ((m, k), (k, n))
    assert_equal_by_norm(q @ r, x)
    identity = np.broadcast_to(np.eye(k, dtype=dtype), (*shape[:-2], k, k))
    assert_equal_by_norm(adjoint(q) @ q, identity, 64)
    assert_same(np.tril(r, -1), np.zeros_like(r))
    p, *_ = (np.asarray(v) for v in linalg.qr(x, full_matrices=full, pivoting=True)[2:])
    ordered = np.take_along_axis(x, p[..., None, :].astype(int), -1)
    q, r = map(np.asarray, linalg.qr(x, full_matrices=full, pivoting=True)[:2])
    assert_equal_by_norm(q @ r, ordered)
    magnitudes = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    assert (magnitudes[..., :-1] >= magnitudes[..., 1:] * (1 - 1e-5)).all()


@pytest.mark.parametrize("dtype", DTYPES[1::2])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
@pytest.mark.parametrize("pivoting", [True, False])
def test_derivatives_of_qr(shape, pivoting, dtype):
    def factors(x):
        return linalg.qr(x, full_matrices=False, pivoting=pivoting)[:2]

    apart = 4 * np.diag([3, 2, 1, 0])[: shape[0], : shape[1]]
    agrees_with_differences(factors, normal(shape, dtype) + apart)


def test_the_undetermined_columns_of_q_have_no_derivative():
    with pytest.raises(NotImplementedError, match=r"additional columns of Q.*full_matrices=False"):
        jvp(linalg.qr, (normal((4, 2)),), (normal((4, 2)),))


def test_products_of_reflections_and_of_matrices_with_themselves():
    x = normal((4, 3))
    reflections, taus = normal((4, 2)), np.zeros(2)
    assert_same(linalg.householder_product(reflections, taus), np.eye(4, 2))
    product_ = linalg.symmetric_product(x, np.eye(4), alpha=2.0, beta=3.0, symmetrize_output=True)
    assert_close(product_, 2 * x @ x.T + 3 * np.eye(4))
    assert_same(np.asarray(product_), np.asarray(product_).T)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (0, 2, 2)])
def test_matrices_without_elements(shape):
    x = np.zeros(shape)
    m, n = shape[-2:]
    q, r = linalg.qr(x)
    assert_same(q, np.broadcast_to(np.eye(m), (*shape[:-2], m, m)))
    assert np.shape(r) == shape
    batch = shape[:-2]
    assert [np.shape(v) for v in linalg.lu(x)] == [shape, (*batch, min(m, n)), (*batch, m)]
    u, s, vh = linalg.svd(x)
    assert_same(u, np.broadcast_to(np.eye(m), (*shape[:-2], m, m)))
    assert (np.shape(s), np.shape(vh)) == ((*shape[:-2], min(m, n)), (*shape[:-2], n, n))
    if m == n:
        assert np.shape(linalg.cholesky(x)) == shape
        assert [np.shape(v) for v in linalg.eigh(x)] == [shape, shape[:-1]]


def test_factorizations_within_compiled_batched_gradients():
    """The gradient of log det through Cholesky is the inverse, batched and compiled."""
    from dovetail_ad import grad

    def log_det(x):
        diagonal = lax.reduce_sum(lax.mul(linalg.cholesky(x), np.eye(3)), (1,))
        return lax.mul(lax.reduce_sum(lax.log(diagonal), (0,)), 2.0)

    x = positive((4, 3, 3))
    assert_close(jit(vmap(grad(log_det)))(x), np.linalg.inv(x), factor=1024)


WRONG = [
    (lambda: linalg.lu(np.ones((2, 2), np.int32)), TypeError,
     r"lax.linalg.lu does not accept i32\[2,2\] at .*test_fact.*float32, float64.*convert_element"),
    (lambda: linalg.cholesky(np.ones((2, 3))), ValueError, r"cholesky got f64\[2,3\].*square"),
    (lambda: linalg.qr(np.ones(3)), ValueError, r"lax.linalg.qr got f64\[3\].*it takes matrices"),
    (lambda: linalg.triangular_solve(np.eye(3), np.ones((3, 2))), ValueError,
     r"left_side=False.*must have 3 columns"),
    (lambda: linalg.triangular_solve(np.eye(3), np.eye(3, dtype="f4")), TypeError, "one dtype"),
    (lambda: linalg.lu_pivots_to_permutation(np.array([0, 1]), 1), ValueError, "at most as many"),
    (lambda: linalg.householder_product(np.ones((2, 3)), np.ones(2)), ValueError, "taus"),
    (lambda: linalg.eigh(np.eye(2), subset_by_index=(1, 3)), ValueError, r"\(1, 3\) of 2 values"),
    (lambda: linalg.svd(np.eye(2), subset_by_index=(0, 1)), ValueError, "full_matrices=False"),
    (lambda: linalg.svd(np.eye(2), algorithm=linalg.SvdAlgorithm.POLAR), NotImplementedError,
     r"on the CPU does not offer SvdAlgorithm.POLAR"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "error", "message"), WRONG)
def test_messages_name_the_thing_the_place_and_the_remedy(f, error, message):
    with pytest.raises(error, match=message):
        f()
