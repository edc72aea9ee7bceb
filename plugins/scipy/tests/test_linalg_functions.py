"""Functions of matrices, Sylvester's equation, tridiagonal spectra: values and derivatives.

Each function is compiled once; its other values and derivatives are the reference backend's.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.linalg as sl
from reference_backend import program, value_of

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import grad, jvp, vjp
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit
from dovetail_lax.dtypes import numpy_dtype_promotion
from dovetail_scipy import linalg
from dovetail_testing import assert_near, finite_difference_with_error

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def double_precision():
    with enable_x64(True):
        yield


def normal(*shape, dtype="float64"):
    x = RNG.normal(size=shape)
    return (x + 1j * RNG.normal(size=shape)).astype(dtype) if "c" in dtype else x.astype(dtype)


def agree(result, expected, tol=1e-9):
    assert_near(result, expected, tol, atol=tol * np.abs(expected).max(initial=1))


def agrees_with_differences(f, *args):
    """Tangents agree with finite differences, and cotangents with tangents."""
    tangents = tuple(normal(*np.shape(x), dtype=x.dtype.name) for x in args)
    run = program(lambda *xs: [f(*xs)], *args)
    ((expected, error),) = finite_difference_with_error(run, args, tangents)
    ct = normal(*expected.shape, dtype=expected.dtype.name)
    both = lambda xs, ts, ct: (jvp(f, xs, ts)[1], vjp(f, *xs)[1](ct))  # noqa: E731
    result, pulled = value_of(both, args, tangents, ct)
    assert_near(result, expected, 1e-6, atol=error + 1e-9)
    total = sum(np.sum(np.asarray(p) * t) for p, t in zip(pulled, tangents))
    assert_near(total.real, np.sum(ct * result).real, 1e-8, atol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_exponentials(dtype):
    sizes = np.array([1e-3, 0.3, 1.0, 5.0, 30.0])[:, None, None]
    x = (sizes * (normal(5, 4, 4, dtype=dtype) - 2 * np.eye(4))).astype(dtype)
    wide = x.astype("complex128" if "c" in dtype else "float64")
    tol = 1e-4 if np.finfo(dtype).nmant < 30 else 1e-11
    result = linalg.expm(x)
    assert result.dtype == dtype
    expected = sl.expm(wide)
    scale = np.abs(expected).max((1, 2), keepdims=True)
    assert_near(result, expected, tol, atol=tol * scale)
    triangle = value_of(partial(linalg.expm, upper_triangular=True), np.triu(x))
    expected = sl.expm(np.triu(wide))
    assert_near(triangle, expected, tol, atol=tol * np.abs(expected).max((1, 2), keepdims=True))


def test_exponentials_are_neither_scaled_too_much_nor_infinite():
    x = np.array([[1, 1e6], [0, -1]])
    exact = np.array([[np.e, 1e6 * np.sinh(1)], [0, 1 / np.e]])
    assert_near(value_of(linalg.expm, x), exact, 1e-13)
    big = np.array([[-1e4, 1e4], [0, -1e4]], "f4")
    assert np.isfinite(value_of(linalg.expm, big)).all()
    assert np.isnan(value_of(linalg.expm, big * 1e4)).all()
    assert np.isnan(value_of(linalg.expm, np.full((2, 2), np.inf))).all()
    huge = np.array([[0, 1e300], [0, 0]])
    agree(value_of(linalg.expm, huge) / 1e300, np.array([[0, 1], [0, 0]]))
    stack = np.stack([x, np.zeros((2, 2)), np.eye(2)])
    agree(jit(vmap(linalg.expm))(stack) / 1e6, sl.expm(stack) / 1e6)


def test_derivatives_of_exponentials():
    x, e = normal(2, 3, 3, dtype="complex128")
    agrees_with_differences(linalg.expm, np.stack([x, 3 * x, 0 * x]))
    value, slope = value_of(linalg.expm_frechet, x, e)
    agree(value, sl.expm(x))
    agree(slope, sl.expm_frechet(x, e, compute_expm=False))
    agree(value_of(partial(linalg.expm_frechet, compute_expm=False), x, e), slope)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_square_roots(dtype):
    x = normal(2, 4, 4, dtype=dtype)
    result = np.asarray(linalg.sqrtm(x) if dtype == "complex128" else value_of(linalg.sqrtm, x))
    tol = 1e-4 if np.finfo(dtype).nmant < 30 else 1e-11
    assert result.dtype == np.result_type(dtype, "complex64")
    agree(result @ result, x + 0j, tol)
    assert (np.linalg.eigvals(result).real > -tol).all()
    agree(result[0], sl.sqrtm(x[0].astype("complex128" if "c" in dtype else "f8")) + 0j, tol * 100)


def test_square_roots_of_special_matrices():
    positive = np.array([[4.0, 1], [1, 3]])
    assert not np.abs(np.imag(value_of(linalg.sqrtm, positive))).max() > 1e-15
    agree(value_of(linalg.sqrtm, np.diag([-4.0, 9])), np.diag([2j, 3]))
    agree(value_of(linalg.sqrtm, np.zeros((2, 2))), np.zeros((2, 2)) + 0j)
    agree(value_of(linalg.sqrtm, np.diag([0.0, 0, 4])), np.diag([0, 0, 2]) + 0j)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives_of_square_roots(dtype):
    x = normal(2, 3, 3, dtype=dtype)
    x = x @ x.conj().swapaxes(1, 2) + np.triu(normal(3, 3))
    if dtype == "complex128":
        agrees_with_differences(linalg.sqrtm, x)
    else:
        total = lambda x: dnp.real(dnp.sum(linalg.sqrtm(x)))  # noqa: E731
        agrees_with_differences(lambda x: grad(total)(x), x[0])


def test_functions_of_matrices():
    x = normal(2, 4, 4)
    agree(jit(lambda x: linalg.funm(x, dnp.exp))(x), sl.expm(x) + 0j)
    z = normal(4, 4, dtype="complex128")
    agree(value_of(lambda z: linalg.funm(z, lambda w: w * w), z), z @ z)
    _, error = value_of(lambda x: linalg.funm(x, dnp.exp, disp=False), x[0])
    agree(error, sl.funm(x[0], np.exp, disp=False)[1], 1e-3)
    agree(
        value_of(lambda x: linalg.funm(x, dnp.exp), np.diag([2.0, 2, 3])),
        np.diag(np.exp([2.0, 2, 3])) + 0j,
    )
    agrees_with_differences(lambda z: linalg.funm(z, dnp.exp), z)


@pytest.mark.parametrize(("method", "dtypes"), [
    ("schur", ("float64",) * 3), ("eigen", ("complex128", "float64", "float64")),
])  # fmt: skip
def test_sylvester_equations(method, dtypes):
    a, b, c = (normal(*s, dtype=d) for s, d in zip(((2, 3, 3), (2, 2), (2, 3, 2)), dtypes))
    x = np.asarray(linalg.solve_sylvester(a, b, c, method=method))
    agree(a @ x + x @ b, c + 0 * x)
    agrees_with_differences(lambda *xs: linalg.solve_sylvester(*xs, method=method), a, b, c)


def test_sylvester_equations_without_unique_solution():
    solve = partial(value_of, linalg.solve_sylvester)
    assert np.isnan(solve(np.eye(2), -np.eye(2), np.eye(2))).all()
    one = np.stack([np.eye(2), 3 * np.eye(2)])
    by_eigenvalues = partial(linalg.solve_sylvester, method="eigen")
    result = np.asarray(value_of(by_eigenvalues, one, -np.eye(2), np.eye(2)))
    assert np.isnan(result[0]).all()
    agree(result[1], np.eye(2) / 2)
    agree(solve(np.eye(2, dtype="f4"), np.eye(2), np.eye(2)), np.eye(2) / 2)


def test_tridiagonal_spectra():
    d, e = normal(30), normal(29)
    w, v = sl.eigh_tridiagonal(d, e)

    def spectrum(d, e, **options):
        return value_of(partial(linalg.eigh_tridiagonal, **options), d, e)

    agree(spectrum(d, e, eigvals_only=True), w, 1e-14)
    values, vectors = map(np.asarray, linalg.eigh_tridiagonal(d, e))
    agree(np.abs(v.T @ vectors), np.eye(30))
    agree(values, w)
    some = {"select": "i", "select_range": (3, 7)}
    agree(spectrum(d, e, eigvals_only=True, **some), w[3:8], 1e-14)
    assert [x.shape for x in spectrum(d, e, **some)] == [(5,), (30, 5)]
    rough = spectrum(d, e, eigvals_only=True, tol=1e-3)
    assert 1e-9 < np.abs(rough - w).max() < 1e-3
    single = spectrum(d.astype("f4"), e.astype("f4"), eigvals_only=True)
    assert single.dtype == "float32"
    agree(single, w, 1e-6)
    for x, y in ((d[:1], e[:0]), (np.zeros(4), np.zeros(3)), (np.ones(3), np.zeros(2))):
        agree(spectrum(x, y, eigvals_only=True), np.sort(x))


def test_complex_tridiagonal_spectra_in_batches():
    d, e = normal(2, 5).astype("complex128"), normal(2, 4, dtype="complex128")
    full = np.stack([np.diag(x) + np.diag(y, 1) + np.diag(y.conj(), -1) for x, y in zip(d, e)])
    w, v = map(np.asarray, linalg.eigh_tridiagonal(d, e))
    agree(full @ v, v * w[:, None])
    values = value_of(partial(linalg.eigh_tridiagonal, eigvals_only=True), d, e)
    agree(values, np.linalg.eigvalsh(full))
    f = jit(vmap(lambda d, e: linalg.eigh_tridiagonal(d, e, eigvals_only=True)))
    agree(f(d, e), np.linalg.eigvalsh(full))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives_of_tridiagonal_spectra(dtype):
    d, e = np.sort(normal(5)) + 3 * np.arange(5), normal(4, dtype=dtype)
    f = lambda d, e: linalg.eigh_tridiagonal(  # noqa: E731
        lax.convert_element_type(d, dtype), e, eigvals_only=True
    )
    agrees_with_differences(f, d, e)


@pytest.mark.parametrize(("shape", "side", "method"), [
    ((3, 3), "left", "qdwh"), ((4, 2), "right", "qdwh"), ((2, 4), "right", "svd"),
])  # fmt: skip
def test_derivatives_of_polar_decompositions(shape, side, method):
    both = partial(linalg.polar, side=side, method=method)
    agrees_with_differences(lambda x: dnp.concatenate([*map(dnp.ravel, both(x))]), normal(*shape))


def test_derivatives_of_equations():
    x = normal(3, 3)
    x, b = x @ x.T + np.eye(3), normal(3, 2)
    for f in (lambda a, b: linalg.solve(a, b, assume_a="pos"),
              lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, trans=1)):  # fmt: skip
        agrees_with_differences(f, x, b)
    agrees_with_differences(linalg.toeplitz, normal(3), normal(4))
    agrees_with_differences(linalg.det, x)


E3 = np.eye(3)
WRONG = [
    (lambda: linalg.expm(np.ones((2, 3))), ValueError, r"expm takes square matrices"),
    (lambda: linalg.expm_frechet(E3, np.eye(2)), ValueError, r"A and E must have one shape, got"),
    (lambda: linalg.sqrtm(E3, blocksize=2), NotImplementedError, r"only blocksize=1.*Leave it out"),
    (lambda: linalg.funm(E3, 3), TypeError, r"funm: func must be a function, got 3 at .*test_lin"),
    (lambda: linalg.solve_sylvester(E3, E3, np.eye(2)), ValueError, r"C has as many rows as A"),
    (lambda: linalg.solve_sylvester(E3, E3, E3, method="x"), ValueError, r"'schur', 'eigen'"),
    (lambda: linalg.eigh_tridiagonal(np.ones(3), np.ones(3)), ValueError, r"one element less"),
    (lambda: linalg.eigh_tridiagonal(np.ones(3, int), np.ones(2, int)), TypeError, r"with astype"),
    (lambda: linalg.eigh_tridiagonal(np.ones(3), np.ones(2), select="v"), NotImplementedError,
     r"select='v' is not supported.*Select by indices"),
    (lambda: linalg.eigh_tridiagonal(np.ones(3), np.ones(2), select="i", select_range=(1, 3)),
     ValueError, r"select_range=\(1, 3\) of 3 eigenvalues.*from 0 to 2"),
    (lambda: linalg.eigh_tridiagonal(np.ones(3), np.ones(2), select="i"), ValueError, "of two"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "error", "message"), WRONG)
def test_messages_name_the_thing_the_place_and_the_remedy(f, error, message):
    with pytest.raises(error, match=message):
        f()


def test_exponentials_where_types_are_promoted_strictly() -> None:
    with numpy_dtype_promotion("strict"):
        result = linalg.expm(dnp.eye(2))
    np.testing.assert_allclose(result, np.e * np.eye(2), rtol=1e-6)
