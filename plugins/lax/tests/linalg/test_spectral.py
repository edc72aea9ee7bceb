"""Eigenvalues and singular values: defining equations, and derivatives that no phase touches."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad, jacfwd, jacrev, jvp
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit
from dovetail_lax import linalg
from dovetail_testing import assert_close, assert_near, finite_difference_with_error

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


def product(*factors):
    """A product of matrices with the rows of ``lax``."""
    out = factors[0]
    for x in factors[1:]:
        out = lax.batch_matmul(out, x)
    return out


def dagger(x):
    return lax.conj(lax.transpose(x, (1, 0))) if x.dtype.kind == "c" else lax.transpose(x, (1, 0))


def assert_equal_by_norm(result, expected, factor=256):
    """Factorizations are as exact as the whole matrix, or all its eigenvalues: not each entry."""
    scale = np.abs(expected).max(initial=0)
    assert_close(result, expected, factor=factor, scale=scale)


def columns(v, w):
    """The columns of ``v`` times the numbers ``w``."""
    wide = lax.broadcast_in_dim(w, v.shape, (1,))
    return lax.mul(v, lax.convert_element_type(wide, v.dtype))


def check_derivative(f, x):
    tangent = normal(x.shape, x.dtype.name)
    result = jvp(f, (x,), (tangent,))[1]
    ((expected, error),) = finite_difference_with_error(lambda x: [f(x)], [x], [tangent])
    assert_near(result, expected, 1e-6, atol=error)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigh(dtype):
    x = normal((2, 3, 3), dtype)
    hermitian = (x + adjoint(x)) / 2
    v, w = map(np.asarray, linalg.eigh(x))
    assert (v.dtype, w.dtype) == (dtype, np.real(x).dtype)
    assert_equal_by_norm(hermitian @ v, v * w[:, None])
    assert_equal_by_norm(adjoint(v) @ v, np.broadcast_to(np.eye(3, dtype=dtype), x.shape))
    assert (np.diff(w) >= 0).all()
    upper = np.triu(hermitian) + np.tril(normal(x.shape, dtype), -1)
    assert_equal_by_norm(linalg.eigh(upper, lower=False, symmetrize_input=False)[1], w)
    few = linalg.eigh(x, subset_by_index=(1, 3))
    assert_close(few[1], w[:, 1:])
    assert_close(vmap(lambda x: linalg.eigh(x)[1], in_axes=2)(np.moveaxis(x, 0, 2)), w)


@pytest.mark.parametrize("dtype", DTYPES[1::2])
def test_derivatives_of_eigh(dtype):
    def exponential(x):  # functions of the matrix do not depend on the phases of eigenvectors
        v, w = linalg.eigh(x)
        return product(columns(v, lax.exp(w)), dagger(v))

    x = normal((3, 3), dtype)
    check_derivative(exponential, x)
    check_derivative(lambda x: linalg.eigh(x)[1], x)
    if dtype == "float64":
        check_derivative(lambda x: linalg.eigh(x, symmetrize_input=False, lower=False)[0], x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eig(dtype):
    x = normal((2, 3, 3), dtype)
    w, left, right = map(np.asarray, linalg.eig(x))
    assert_equal_by_norm(x @ right, right * w[:, None], 512)
    assert_equal_by_norm(adjoint(left) @ x, w[..., None] * adjoint(left), 512)
    only = linalg.eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=False)
    assert len(only) == 1
    assert_equal_by_norm(np.sort_complex(only[0]), np.sort_complex(w), 512)
    assert len(linalg.eig(x, compute_left_eigenvectors=False)) == 2


@pytest.mark.parametrize("dtype", DTYPES[1::2])
@pytest.mark.parametrize("side", [0, 1])
def test_derivatives_of_general_eigenvectors(side, dtype):
    def vectors(x):
        given = {"compute_left_eigenvectors": side == 0, "compute_right_eigenvectors": side == 1}
        return linalg.eig(x, enable_eigvec_derivs=True, **given)[1]

    def products(x):  # the sign of a vector is that of roundings, but not its phase
        v = vectors(x)
        first = lax.broadcast_in_dim(lax.slice_in_dim(v, 0, 1, axis=1), v.shape, (0, 1, 2))
        return lax.mul(v, first)

    apart = np.stack([np.diag([0, 3, 6, 9]), np.diag([0, 0, 6, 9]) + np.diag([9, 0, 0], 1)])
    apart[1, 1, 0] = -3  # which makes a pair of conjugate eigenvalues
    x = 0.3 * normal((2, 4, 4), dtype) + apart
    check_derivative(products, x)
    tangent = (normal(x.shape, dtype),)
    both = jvp(lambda x: tuple(linalg.eig(x, enable_eigvec_derivs=True)), (x,), tangent)[1]
    assert_close(both[1 + side], jvp(vectors, (x,), tangent)[1])
    total = lambda x: lax.reduce_sum(lax.real(products(x)), (0, 1, 2))  # noqa: E731
    assert_near(np.sum(np.asarray(grad(total)(x)) * tangent[0]).real,
                jvp(total, (x,), tangent)[1], 1e-9)  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES[1::2])
def test_derivatives_of_eigenvalues(dtype):
    def cubes(x):  # the sum of their cubes is the trace of the cube
        (w,) = linalg.eig(x, compute_left_eigenvectors=False, compute_right_eigenvectors=False)
        return lax.reduce_sum(lax.integer_pow(w, 3), (0,))

    x = normal((4, 4), dtype)
    check_derivative(cubes, x)
    tangent = normal((4, 4), dtype)
    result = jvp(cubes, (x,), (tangent,))[1]
    assert_close(result, 3 * np.trace(x @ x @ tangent).astype(complex), factor=4096)
    with pytest.raises(NotImplementedError, match=r"with enable_eigvec_derivs=True at .*use eigh"):
        jvp(linalg.eig, (x,), (tangent,))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("algorithm", [None, linalg.SvdAlgorithm.QR])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2)])
def test_svd(shape, algorithm, dtype):
    x = normal(shape, dtype)
    m, n = shape[-2:]
    k = min(m, n)
    for full in (True, False):
        u, s, vh = map(np.asarray, linalg.svd(x, full_matrices=full, algorithm=algorithm))
        assert (u.shape[-1], vh.shape[-2]) == ((m, n) if full else (k, k))
        assert_equal_by_norm(u[..., :k] * s[..., None, :] @ vh[..., :k, :], x)
        identity = np.eye(u.shape[-1], dtype=dtype)
        assert_equal_by_norm(
            adjoint(u) @ u, np.broadcast_to(identity, (*shape[:-2], *identity.shape))
        )
        assert s.dtype == np.real(x).dtype and (np.diff(s) <= 0).all()
    assert_equal_by_norm(linalg.svd(x, compute_uv=False, algorithm=algorithm), s)
    u1, s1, vh1 = linalg.svd(x, full_matrices=False, subset_by_index=(0, 1))
    assert [np.shape(v)[-2:] for v in (u1, vh1)] == [(m, 1), (1, n)]
    assert_equal_by_norm(s1, s[..., :1])


@pytest.mark.parametrize("dtype", DTYPES[1::2])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_derivatives_of_svd(shape, dtype):
    def saturated(x):  # does not depend on the phases of singular vectors
        u, s, vh = linalg.svd(x, full_matrices=False)
        return product(columns(u, lax.tanh(s)), vh)

    x = normal(shape, dtype)
    check_derivative(saturated, x)
    check_derivative(lambda x: linalg.svd(x, compute_uv=False), x)
    check_derivative(lambda x: linalg.svd(x, full_matrices=False)[1], x)


def test_the_gradient_of_the_nuclear_norm():
    x = normal((3, 2))
    result = grad(lambda x: lax.reduce_sum(linalg.svd(x, compute_uv=False), (0,)))(x)
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    assert_close(result, u @ vh, factor=256)


def test_the_undetermined_singular_vectors_have_no_derivative():
    with pytest.raises(NotImplementedError, match=r"not determined. Use full_matrices=False"):
        jvp(linalg.svd, (normal((4, 2)),), (normal((4, 2)),))


def test_what_does_not_converge_is_nan():
    x = np.full((2, 2), np.nan)
    assert all(np.isnan(np.asarray(v)).all() for v in linalg.svd(x))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_eigenvalues_of_matrices_of_any_size(dtype):
    """The largest elements beyond the root of the range, where LAPACK scales the matrix."""
    with enable_x64(True):
        part = np.finfo(dtype).dtype.type
        x = np.array([[4, 1, -0.5], [0.5, -3, 1], [-1, 0.25, 2]], dtype)
        x = x + 1j * np.eye(3, dtype=dtype) if dtype(0).dtype.kind == "c" else x
        wanted = np.sort(np.linalg.eigvals(x.astype(np.complex128)))
        powers = np.array([-0.9, -0.5, -0.35, 0.3, 0.35, 0.5, 0.9]) * np.finfo(dtype).maxexp
        scales = np.ldexp(part(1), powers.astype(int))
        result = np.asarray(jit(linalg.eig)(x * scales[:, None, None])[0]) / scales[:, None]
        for w in result:
            np.testing.assert_allclose(np.sort(w), wanted, rtol=100 * np.finfo(dtype).eps)


def test_second_derivatives_of_eigenvalues_of_general_matrices():
    """Of the characteristic polynomial: the sum of cubes of eigenvalues is the trace of the cube,
    whose second derivative by elements is 3 (A_da A_bc + ...)."""
    with enable_x64(True):
        x = np.array([[4, 1, -0.5], [0.5, -3, 1], [-1, 0.25, 2]])
        values = lambda a: linalg.eig(  # noqa: E731
            a, compute_left_eigenvectors=False, compute_right_eigenvectors=False
        )[0]
        cubes = lambda a: lax.reduce_sum(lax.real(lax.integer_pow(values(a), 3)), (0,))  # noqa: E731
        eye = np.eye(3)
        wanted = 3 * (np.einsum("da,bc->abcd", x, eye) + np.einsum("da,bc->abcd", eye, x))
        for f in (jacfwd(grad(cubes)), jacrev(grad(cubes))):
            np.testing.assert_allclose(jit(f)(x), wanted, atol=1e-12)
