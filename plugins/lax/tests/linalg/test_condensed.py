"""Condensed forms, reflections, tridiagonal equations, updates, polar decomposition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as sl

import dovetail_lax as lax
from dovetail_ad import grad, jvp, vjp
from dovetail_batching import vmap
from dovetail_core import enable_x64
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


def adjoint(x):
    return np.asarray(x).conj().swapaxes(-1, -2)


def assert_equal_by_norm(result, expected, factor=256):
    """As exact as the whole matrix, not each entry."""
    scale = np.abs(expected).max(initial=0)
    assert_close(result, expected, factor=factor, scale=scale)


def assert_unitary(q):
    result = adjoint(q) @ q
    assert_equal_by_norm(result, np.broadcast_to(np.eye(q.shape[-1], dtype=q.dtype), result.shape))


def agrees_with_differences(f, *args):
    """Tangents in a random direction agree with finite differences of ``f``'s results."""
    tangents = [normal(np.shape(x), x.dtype.name) for x in args]
    result = jvp(lambda *xs: tuple(f(*xs)), args, tuple(tangents))[1]
    expected = finite_difference_with_error(lambda *xs: f(*xs), args, tangents)
    for t, (e, error) in zip(result, expected, strict=True):
        assert_near(t, e, 1e-6, atol=error)


def reflected(packed, taus, dtype):
    """The unitary matrix whose reflections begin below the first row."""
    n = packed.shape[-1]
    q = np.zeros(packed.shape, dtype)
    q[..., 0, 0] = 1
    q[..., 1:, 1:] = linalg.householder_product(np.asarray(packed)[..., 1:, : n - 1], taus)
    return q


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 3), (1, 1)])
def test_hessenberg_form(shape, dtype):
    x = normal(shape, dtype)
    packed, taus = linalg.hessenberg(x)
    assert (packed.shape, taus.shape) == (shape, (*shape[:-2], shape[-1] - 1))
    if shape[-1] > 1:
        q = reflected(packed, taus, dtype)
        assert_unitary(q)
        assert_equal_by_norm(q @ np.triu(packed, -1) @ adjoint(q), x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [True, False])
def test_tridiagonal_form(lower, dtype):
    x = normal((2, 4, 4), dtype)
    x = x + adjoint(x)
    other = np.triu(x) if not lower else np.tril(x)
    packed, d, e, taus = (np.asarray(v) for v in linalg.tridiagonal(other, lower=lower))
    assert (d.dtype, e.dtype, taus.dtype) == (x.real.dtype, x.real.dtype, dtype)
    assert_same(np.diagonal(packed, 0, 1, 2).real, d)
    assert_same(np.diagonal(packed, -1 if lower else 1, 1, 2).real, e)
    for a, diagonal, beside in zip(x, d, e):
        t = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
        assert_equal_by_norm(np.linalg.eigvalsh(t), np.linalg.eigvalsh(a))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 3), (1, 1)])
def test_schur_form(shape, dtype):
    x = normal(shape, dtype)
    t, z = map(np.asarray, linalg.schur(x))
    assert_unitary(z)
    assert_equal_by_norm(z @ t @ adjoint(z), x, 512)
    assert_same(np.tril(t, -1 if "c" in dtype else -2), np.zeros_like(t))
    (only,) = linalg.schur(x, compute_schur_vectors=False)
    assert_equal_by_norm(only, t, 512)


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 2, 2)])
def test_matrices_without_elements(shape):
    x, n = np.zeros(shape), shape[-1]
    assert [v.shape for v in linalg.schur(x)] == [shape, shape]
    assert [v.shape for v in linalg.hessenberg(x)] == [shape, (*shape[:-2], max(n - 1, 0))]
    assert [v.shape for v in linalg.qdwh(x)] == [shape, shape, (), shape[:-2]]
    d = np.zeros(shape[:-1])
    assert linalg.tridiagonal_solve(d, d, d, x).shape == shape
    assert linalg.cholesky_update(x, d).shape == shape


def test_derivatives_of_the_complex_schur_form():
    """Functions of the matrix do not depend on the phases of its vectors."""
    x = normal((2, 4, 4), "complex128")
    x = np.triu(x) + 0.1 * np.tril(x, -1) + np.diag([0, 3, 6, 9])

    def square(x):
        t, z = linalg.schur(x)
        w = lax.conj(lax.transpose(z, (0, 2, 1)))
        return [lax.batch_matmul(lax.batch_matmul(z, lax.batch_matmul(t, t)), w)]

    agrees_with_differences(square, x)

    def cubes(x):  # of the eigenvalues, which have no order
        t = lax.mul(linalg.schur(x)[0], np.tile(np.eye(4), (2, 1, 1)) + 0j)
        return [lax.reduce_sum(lax.integer_pow(t, 3), (1, 2))]

    agrees_with_differences(cubes, x)
    (pulled,) = vjp(lambda x: square(x)[0], x)[1](x)
    expected = vjp(lambda x: lax.batch_matmul(x, x), x)[1](x)[0]
    assert_near(pulled, expected, 1e-10, atol=1e-10)


def test_the_real_schur_form_has_no_derivative():
    with pytest.raises(
        NotImplementedError, match=r"schur of real matrices.*Convert them to complex"
    ):
        jvp(lambda x: linalg.schur(x), (np.eye(2),), (np.eye(2),))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("left", [True, False])
def test_products_with_reflections(left, transpose, dtype):
    a, taus = normal((2, 4, 3), dtype), normal((2, 3), dtype)
    full = np.zeros((2, 4, 4), dtype)
    full[..., :3] = a
    q = np.asarray(linalg.householder_product(full, taus))
    op = adjoint(q) if transpose else q
    c = normal((2, 4, 2) if left else (2, 2, 4), dtype)
    result = linalg.ormqr(a, taus, c, left=left, transpose=transpose)
    assert_equal_by_norm(result, op @ c if left else c @ op, 1024)
    if np.finfo(dtype).dtype == np.float64:
        f = lambda *xs: [linalg.ormqr(*xs, left=left, transpose=transpose)]  # noqa: E731
        agrees_with_differences(f, a, taus, c)
        agrees_with_differences(lambda c: f(a, taus, c), c)


def test_derivatives_of_products_of_reflections():
    f = lambda a, t: [linalg.householder_product(a, t)]  # noqa: E731
    agrees_with_differences(f, normal((2, 4, 3)), normal((2, 2)))


def dense(dl, d, du):
    return np.stack([
        np.diag(y) + np.diag(x[1:], -1) + np.diag(z[:-1], 1) for x, y, z in zip(dl, d, du)
    ])  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("perturb", [True, False])
def test_tridiagonal_equations(perturb, dtype):
    (dl, d, du), b = normal((3, 2, 4), dtype), normal((2, 4, 3), dtype)
    solve = lambda *xs: linalg.tridiagonal_solve(*xs, perturb_singular=perturb)  # noqa: E731
    x = np.asarray(solve(dl, d, du, b))
    assert_equal_by_norm(x, np.linalg.solve(dense(dl, d, du), b), 4096)
    shared = vmap(lambda b: solve(dl[0], d[0], du[0], b))(b)
    assert_equal_by_norm(shared, np.linalg.solve(dense(dl, d, du)[0], b), 4096)


@pytest.mark.parametrize("dtype", DTYPES[1::2])
def test_derivatives_of_tridiagonal_equations(dtype):
    dl, d, du = normal((3, 2, 4), dtype)
    b = normal((2, 4, 3), dtype)
    agrees_with_differences(lambda *xs: [linalg.tridiagonal_solve(*xs)], dl, d + 4, du, b)
    (pulled,) = vjp(lambda b: linalg.tridiagonal_solve(dl, d, du, b), b)[1](b)
    expected = np.linalg.solve(dense(dl, d, du).swapaxes(1, 2), b)
    assert_near(pulled, expected, 1e-9, atol=1e-9)


def test_singular_tridiagonal_matrices():
    zero = np.zeros(3)
    b = np.ones((3, 1))
    assert np.isnan(linalg.tridiagonal_solve(zero, zero, zero, b)).all()
    assert np.isfinite(linalg.tridiagonal_solve(zero, zero, zero, b, perturb_singular=True)).all()
    eliminate = linalg.tridiagonal_solve_p.decomposition
    with enable_x64(True):
        result = jit(lambda *xs: eliminate(*xs, perturb_singular=True))(zero, zero, zero, b)
    assert np.isfinite(result).all()


@pytest.mark.parametrize("dtype", DTYPES[:2])
@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 3)])
def test_updates_of_cholesky_factors(shape, dtype):
    r = np.triu(normal(shape, dtype)) + 2 * np.eye(shape[-1], dtype=dtype)
    w = normal(shape[:-1], dtype)
    s = np.asarray(linalg.cholesky_update(r, w))
    expected = adjoint(r) @ r + w[..., None] * w[..., None, :]
    assert_equal_by_norm(adjoint(s) @ s, expected)
    assert_same(np.tril(s, -1), np.zeros_like(s))
    assert (np.diagonal(s, 0, -2, -1) > 0).all()
    assert_equal_by_norm(linalg.cholesky_update(-r, w), s)
    if dtype == "float64":
        agrees_with_differences(lambda r, w: [linalg.cholesky_update(r, w)], r, w)
        agrees_with_differences(lambda w: [linalg.cholesky_update(r, w)], w)


def test_products_of_matrices_with_themselves():
    x = normal((4, 3))
    out = linalg.symmetric_product(x, np.eye(4), alpha=2.0, beta=3.0, symmetrize_output=True)
    assert_close(out, 2 * x @ x.T + 3 * np.eye(4))
    assert_same(np.asarray(out), np.asarray(out).T)
    assert_close(linalg.symmetric_product(x, np.full((4, 4), np.nan)), x @ x.T)
    f = lambda x, c: [linalg.symmetric_product(x, c, alpha=2.0, beta=0.5)]  # noqa: E731
    agrees_with_differences(f, normal((2, 3, 2)), normal((2, 3, 3)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 4), (5, 2), (2, 3, 3), (1, 1)])
def test_polar_decomposition(shape, dtype):
    x = normal(shape, dtype)
    u, h, count, converged = (np.asarray(v) for v in jit(linalg.qdwh)(x))
    assert converged.all() and 0 < count <= 7
    assert_unitary(u)
    assert_equal_by_norm(u @ h, x)
    first = x.reshape(-1, *shape[-2:])[0]
    expected = sl.polar(first)[1]
    assert_equal_by_norm(h.reshape(-1, *h.shape[-2:])[0], expected, 1024)
    assert (np.linalg.eigvalsh(h) > 0).all()


@pytest.mark.parametrize("dtype", DTYPES[1::2])
@pytest.mark.parametrize("shape", [(2, 3, 3), (4, 2)])
def test_derivatives_of_polar_decomposition(shape, dtype):
    x = normal(shape, dtype)
    agrees_with_differences(lambda x: linalg.qdwh(x)[:2], x)
    ct = normal(shape, dtype)
    (pulled,) = vjp(lambda x: linalg.qdwh(x)[0], x)[1](ct)
    tangent = normal(shape, dtype)
    pushed = jvp(lambda x: linalg.qdwh(x)[0], (x,), (tangent,))[1]
    assert_near(np.sum(np.asarray(pulled) * tangent).real, np.sum(ct * pushed).real, 1e-9)


def test_polar_decomposition_of_ill_conditioned_matrices_and_of_parts():
    q, _ = np.linalg.qr(normal((5, 5)))
    x = q @ np.diag([1e3, 1, 1e-3, 1e-6, 1e-9]) @ np.linalg.qr(normal((5, 5)))[0]
    u, h, _, converged = map(np.asarray, linalg.qdwh(x))
    assert converged
    assert_unitary(u)
    assert_equal_by_norm(u @ h, x)
    few = linalg.qdwh(x, max_iterations=2)
    assert (int(few[2]), bool(few[3])) == (2, False)
    part = jit(lambda m, n: linalg.qdwh(x, dynamic_shape=(m, n)))(4, 2)
    alone = linalg.qdwh(x[:4, :2])
    for result, expected in zip(part[:2], alone[:2]):
        m, n = expected.shape
        assert_near(np.asarray(result)[:m, :n], expected, 1e-9, atol=1e-12)
        assert not np.asarray(result)[m:].any()
    zero = linalg.qdwh(np.zeros((5, 5)))
    assert not np.asarray(zero[0]).any() and not np.asarray(zero[1]).any()


def test_within_compiled_batched_gradients():
    """Solutions for all at once, in reverse mode: the gradient of their sum."""
    dl, d, du = normal((3, 5, 4))
    b = normal((5, 4, 1))

    def total(d, b):
        return lax.reduce_sum(linalg.tridiagonal_solve(dl[0], d, du[0], b), (0, 1))

    result = jit(vmap(grad(total)))(d + 5, b)
    a = dense(np.tile(dl[:1], (5, 1)), d + 5, np.tile(du[:1], (5, 1)))
    x = np.linalg.solve(a, b)
    adjoints = np.linalg.solve(a.swapaxes(1, 2), np.ones_like(b))
    assert_near(result, -(adjoints * x)[..., 0], 1e-9, atol=1e-9)


SQUARE = np.ones((2, 3))
WRONG = [
    (lambda: linalg.hessenberg(SQUARE), ValueError, r"hessenberg got f64\[2,3\] at .*square"),
    (lambda: linalg.schur(np.eye(2, dtype=int)), TypeError, r"schur does not accept .*float32"),
    (lambda: linalg.schur(np.eye(2), sort_eig_vals=True), NotImplementedError,
     r"does not sort eigenvalues .* at .*test_condensed.*Leave"),
    (lambda: linalg.tridiagonal(np.ones((0, 0))), ValueError, r"at least one row"),
    (lambda: linalg.ormqr(np.eye(3), np.ones(2), np.ones((2, 2))), ValueError,
     r"with left=True at .*must have 3 rows"),
    (lambda: linalg.tridiagonal_solve(np.ones(2), np.ones(2), np.ones(2), np.ones((3, 1))),
     ValueError, r"three diagonals must have one shape.*Pad the outer"),
    (lambda: linalg.tridiagonal_solve(*np.ones((3, 2)), np.ones((2, 1), "f4")), TypeError,
     r"of one dtype, got f64\[2\], f64\[2\], f64\[2\], f32\[2,1\] at"),
    (lambda: linalg.cholesky_update(np.eye(2), np.ones(3)), ValueError, "a vector of 2 elements"),
    (lambda: linalg.cholesky_update(np.eye(2) * 1j, np.ones(2) * 1j), TypeError, "real matrices"),
    (lambda: linalg.symmetric_product(SQUARE, np.eye(3)), ValueError, "2 rows and columns"),
    (lambda: linalg.qdwh(SQUARE), ValueError, r"as many rows as columns. Decompose the adjoint"),
    (lambda: linalg.qdwh(np.eye(2), max_iterations=1.5), TypeError, "max_iterations"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "error", "message"), WRONG)
def test_messages_name_the_thing_the_place_and_the_remedy(f, error, message):
    with pytest.raises(error, match=message):
        f()
