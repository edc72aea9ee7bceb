"""Factorizations, equations and special matrices against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as sl

from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_core.testing import assert_close, assert_near, assert_same
from dovetail_jit import jit
from dovetail_scipy import linalg

RNG = np.random.default_rng(0)
DTYPES = ["float32", "complex128"]


@pytest.fixture(autouse=True)
def double_precision():
    with enable_x64(True):
        yield


def normal(*shape, dtype="float64"):
    x = RNG.normal(size=shape)
    return (x + 1j * RNG.normal(size=shape)).astype(dtype) if "c" in dtype else x.astype(dtype)


def positive(n, dtype="float64"):
    x = normal(n, n, dtype=dtype)
    return (x @ x.conj().T + np.eye(n)).astype(dtype)


def agree(found, expected, tol=1e-9):
    found, expected = (x if isinstance(x, (tuple, list)) else (x,) for x in (found, expected))
    for x, y in zip(found, expected, strict=True):
        assert_near(x, y, tol, atol=tol * np.abs(y).max(initial=1))


def precision(dtype):
    return 1e-4 if np.finfo(dtype).nmant < 30 else 1e-10


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky_reads_one_triangle(lower, dtype):
    x = positive(4, dtype)
    spoiled = x + (np.triu if lower else np.tril)(np.full((4, 4), 7), 1 if lower else -1)
    found = linalg.cholesky(spoiled.astype(dtype), lower=lower)
    assert found.dtype == dtype
    agree(found, sl.cholesky(x, lower=lower), precision(dtype))
    factor, flag = linalg.cho_factor(x, lower=lower)
    assert flag is lower
    b = normal(4, 2, dtype=dtype)
    agree(linalg.cho_solve((factor, lower), b), np.linalg.solve(x, b), precision(dtype))
    agree(linalg.cho_solve((factor, lower), b[:, 0]), np.linalg.solve(x, b[:, 0]), precision(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("trans", [0, 1, 2])
def test_solutions_with_factors(trans, dtype):
    x, b = normal(4, 4, dtype=dtype), normal(4, 2, dtype=dtype)
    op = [x, x.T, x.conj().T][trans]
    agree(linalg.lu_solve(linalg.lu_factor(x), b, trans=trans), np.linalg.solve(op, b),
          precision(dtype) * 10)  # fmt: skip
    for lower in (True, False):
        name = "NTC"[trans]
        found = linalg.solve_triangular(x, b, trans=name, lower=lower)
        agree(found, sl.solve_triangular(x, b, trans=trans, lower=lower), precision(dtype) * 100)
        unit = linalg.solve_triangular(x, b, trans=trans, lower=lower, unit_diagonal=True)
        agree(unit, sl.solve_triangular(x, b, trans, lower, unit_diagonal=True), 1e-3)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("assume", ["gen", "sym", "her", "pos"])
def test_equations(assume, lower):
    z = normal(4, 4, dtype="complex128")
    x = {"gen": z, "sym": z + z.T, "her": z + z.conj().T, "pos": z @ z.conj().T}[assume]
    half = x if assume == "gen" else np.tril(x) if lower else np.triu(x)
    b = normal(4, 2)
    agree(linalg.solve(half, b, assume_a=assume, lower=lower), np.linalg.solve(x, b))
    agree(linalg.solve(half, b[:, 0], assume_a=assume, lower=lower), np.linalg.solve(x, b[:, 0]))


def test_leading_dimensions_broadcast():
    x, b = np.stack([positive(3), positive(3)]), normal(3, 5)
    expected = np.linalg.solve(x, b)
    for f in (linalg.solve, lambda a, b: linalg.solve(a, b, assume_a="pos"),
              lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b),
              lambda a, b: linalg.cho_solve(linalg.cho_factor(a), b)):  # fmt: skip
        agree(f(x, b[None]), expected)
        agree(jit(vmap(f))(x, np.stack([b, b])), expected)
        agree(f(x, b[:, 0]), expected[..., 0])
    vectors = normal(2, 3)
    agree(linalg.solve_triangular(x, vectors),
          [np.stack([sl.solve_triangular(a, v) for a, v in zip(x, vectors)])])  # fmt: skip
    agree(linalg.inv(x), np.linalg.inv(x))
    agree(linalg.det(x), np.linalg.det(x))


@pytest.mark.parametrize("shape", [(4, 4), (4, 3), (3, 4)])
def test_lu_and_qr(shape):
    x = normal(*shape)
    agree(linalg.lu(x), sl.lu(x))
    agree(linalg.lu(x, permute_l=True), sl.lu(x, permute_l=True))
    agree(linalg.lu_factor(x), sl.lu_factor(x))
    stacked = [np.asarray(v) for v in linalg.lu(np.stack([x, -x]))]
    agree(stacked[0] @ stacked[1] @ stacked[2], np.stack([x, -x]))
    for mode in ("full", "economic", "r"):
        for pivoting in (True, False):
            found = linalg.qr(x, mode=mode, pivoting=pivoting)
            agree(found, sl.qr(x, mode=mode, pivoting=pivoting))


@pytest.mark.parametrize("conjugate", [True, False])
@pytest.mark.parametrize("pivoting", [True, False])
def test_products_with_q(pivoting, conjugate):
    a = normal(4, 3, dtype="complex128")
    for c, mode in ((normal(2, 4), "right"), (normal(3, 2), "left"), (normal(4), "right"),
                    (normal(3), "left")):  # fmt: skip
        given = {"pivoting": pivoting, "conjugate": conjugate}
        expected = sl.qr_multiply(a, c + 0j, mode, **given)
        agree(linalg.qr_multiply(a, c, mode, **given), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_spectra(dtype):
    x = normal(4, 3, dtype=dtype)
    u, s, vh = map(np.asarray, linalg.svd(x, full_matrices=False))
    agree(u * s @ vh, x, precision(dtype))
    agree(linalg.svd(x, compute_uv=False), s, precision(dtype))
    assert [v.shape for v in linalg.svd(x)] == [(4, 4), (3,), (3, 3)]
    h = positive(4, dtype)
    w, v = map(np.asarray, linalg.eigh(h))
    agree(h @ v, v * w, precision(dtype))
    agree(linalg.eigh(h, eigvals_only=True), w, precision(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("shape", [(4, 4), (4, 3), (3, 4)])
def test_polar_decompositions(shape, side, dtype):
    x = normal(*shape, dtype=dtype)
    expected = sl.polar(x, side)
    for method in ("qdwh", "svd"):
        agree(linalg.polar(x, side, method=method), expected, precision(dtype) * 10)
    stacked = np.stack([x, -x])
    agree(linalg.polar(stacked, side)[1][1], expected[1], precision(dtype) * 10)


@pytest.mark.parametrize("dtype", DTYPES)
def test_schur_and_hessenberg_forms(dtype):
    x = normal(5, 5, dtype=dtype)
    agree(linalg.schur(x), sl.schur(x), precision(dtype))
    t, z = map(np.asarray, linalg.schur(x, output="complex"))
    assert not np.tril(t, -1).any() and t.dtype.kind == "c"
    agree(z @ t @ z.conj().T, x + 0j, precision(dtype))
    h, q = map(np.asarray, linalg.hessenberg(x, calc_q=True))
    agree((h, q), sl.hessenberg(x, calc_q=True), precision(dtype))
    agree(linalg.hessenberg(np.stack([x, x]))[1], h, precision(dtype))


def test_the_complex_schur_form_of_a_real_one():
    x = normal(2, 5, 5)
    real = linalg.schur(x)
    t, z = map(np.asarray, linalg.rsf2csf(*real))
    assert not np.tril(t, -1).any()
    agree(z @ t @ z.conj().swapaxes(1, 2), x + 0j)
    agree(linalg.rsf2csf(*sl.schur(x[0])), sl.rsf2csf(*sl.schur(x[0])))


@pytest.mark.parametrize("n", [0, 1, 2, 5, 8, 16])
def test_matrices_known_by_their_size(n):
    for name in ("hilbert", "invhilbert", "pascal", "invpascal", "dft", "helmert", "hadamard"):
        if (name == "hadamard" and n in (0, 5)) or (name != "dft" and name != "hilbert" and n == 0):
            continue
        if name == "helmert":
            agree(linalg.helmert(n, full=True), sl.helmert(n, full=True), 1e-14)
            continue
        agree(getattr(linalg, name)(n), getattr(sl, name)(n), 1e-14)
        if name.endswith("pascal"):
            for kind in ("lower", "upper"):
                agree(getattr(linalg, name)(n, kind), getattr(sl, name)(n, kind), 1e-14)
    if n > 1:
        agree(linalg.helmert(n), sl.helmert(n), 1e-14)
        for scale in ("sqrtn", "n"):
            agree(linalg.dft(n, scale), sl.dft(n, scale), 1e-14)
    with enable_x64(False):
        assert linalg.hilbert(2).dtype == "float32" and linalg.dft(2).dtype == "complex64"
        assert linalg.hadamard(2).dtype == "int32"
        assert linalg.hadamard(2, dtype="float16").dtype == "float16"


@pytest.mark.parametrize("n", [2, 3, 6])
def test_matrices_of_vectors(n):
    v, u, z = normal(n), normal(4), normal(n, dtype="complex128")
    for name in ("circulant", "companion", "fiedler", "fiedler_companion", "hankel", "toeplitz"):
        f, expected = getattr(linalg, name), getattr(sl, name)(v)
        agree(f(v), expected, 1e-14)
        agree(f(np.stack([v, v]))[1], expected, 1e-14)
        if n == 3:
            agree(jit(vmap(f))(np.stack([v, v]))[1], expected, 1e-14)
    agree(linalg.toeplitz(z), sl.toeplitz(z))
    agree(linalg.toeplitz(v, u), sl.toeplitz(v, u))
    agree(linalg.hankel(v, u), sl.hankel(v, u))
    agree(linalg.leslie(v, v[1:]), sl.leslie(v, v[1:]))
    for mode in ("full", "same", "valid"):
        for m in (1, 4, 9):
            found = linalg.convolution_matrix(v, m, mode)
            agree(found, sl.convolution_matrix(v, m, mode))
    assert linalg.toeplitz(np.arange(n)).dtype == "int64"
    assert linalg.toeplitz(np.arange(n), np.ones(2, "f4")).dtype == np.result_type("f4")


def test_blocks_along_the_diagonal():
    parts = (normal(2, 3), normal(4), 1, np.ones((0, 2)))
    agree(linalg.block_diag(*parts), sl.block_diag(*parts))
    assert linalg.block_diag().shape == (1, 0)
    assert linalg.block_diag(1, np.float32(2)).dtype == "float32"


@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (2, 0, 0)])
def test_small_matrices(shape):
    x = np.ones(shape)
    for name in ("cholesky", "inv", "expm", "hessenberg"):
        assert getattr(linalg, name)(x).shape == shape
    for name in ("schur", "polar"):
        assert [v.shape for v in getattr(linalg, name)(x)] == [shape, shape]
    for found in (linalg.solve(x, x), linalg.solve(x, x, assume_a="pos"),
                  linalg.lu_solve(linalg.lu_factor(x), x), linalg.solve_triangular(x, x),
                  linalg.solve_sylvester(x, x, 2 * x), linalg.sqrtm(x)):  # fmt: skip
        assert_close(found, np.ones(shape) + 0 * np.asarray(found))
    assert_same(linalg.det(x), np.ones(shape[:-2]))
    assert [v.shape for v in linalg.rsf2csf(x, x)] == [shape, shape]


def test_integers_are_converted():
    x = np.array([[2, 1], [1, 3]])
    agree(linalg.cholesky(x), sl.cholesky(x))
    with enable_x64(False):
        assert linalg.solve(x, [1, 2]).dtype == "float32"
        assert linalg.schur(x.astype("i4"), output="complex")[0].dtype == "complex64"


E3, E2 = np.eye(3), np.ones((2, 3))
WRONG = [
    (lambda: linalg.cholesky(E2), ValueError, r"cholesky takes square matrices, got .*2, 3.* at "),
    (lambda: linalg.lu(np.ones(3)), ValueError, r"lu takes matrices.*position 0 has shape \(3,\)"),
    (lambda: linalg.inv("x"), TypeError, r"inv takes arrays, got 'x' at position 0.*asarray"),
    (lambda: linalg.qr(E3, mode="raw"), ValueError, r"qr: mode must be one of 'full', 'r', 'econ"),
    (lambda: linalg.solve(E3, np.ones(2)), ValueError, r"solve: matrices of shape \(3, 3\) and"),
    (lambda: linalg.solve(E3, E3, assume_a="x"), ValueError, r"assume_a must be one of 'gen', 'sy"),
    (lambda: linalg.solve_triangular(E3, E3, trans="X"), ValueError, r"trans must be one of 0, 1,"),
    (lambda: linalg.lu_solve((E3, np.arange(3)), E3, trans=3), ValueError, r"lu_solve: trans must"),
    (lambda: linalg.eigh(E3, E3), NotImplementedError, r"eigh: b is not supported.*cholesky\(b"),
    (lambda: linalg.polar(E3, "x"), ValueError, r"polar: side must be one of 'right', 'left'"),
    (lambda: linalg.schur(E3, "x"), ValueError, r"schur: output must be one of 'real', 'complex'"),
    (lambda: linalg.rsf2csf(E3, np.eye(2)), ValueError, r"rsf2csf: T and Z must be of one size"),
    (lambda: linalg.qr_multiply(E3, np.ones(2)), ValueError, r"must have 3 columns"),
    (lambda: linalg.hadamard(6), ValueError, r"hadamard: n must be a power of 2, got 6"),
    (lambda: linalg.helmert(0), ValueError, r"helmert: n must be positive, got 0"),
    (lambda: linalg.hilbert(-1), ValueError, r"hilbert: n must not be negative, got -1"),
    (lambda: linalg.pascal(2, "x"), ValueError, r"pascal: kind must be one of 'symmetric'"),
    (lambda: linalg.dft(2, dtype="f4"), ValueError, r"dft: dtype must be complex, got float32"),
    (lambda: linalg.block_diag(np.ones((1, 1, 1))), ValueError, r"at most two dimensions.*posit"),
    (lambda: linalg.companion([1.0]), ValueError, r"companion takes at least two coefficients"),
    (lambda: linalg.fiedler_companion([]), ValueError, r"takes at least one coefficient"),
    (lambda: linalg.leslie([1.0, 2.0], [1.0, 2.0]), ValueError, r"s one less, got shapes \(2,\)"),
    (lambda: linalg.convolution_matrix([1.0], 0), ValueError, r"positive n, got shape \(1,\) and "),
    (lambda: linalg.toeplitz(np.ones((2, 2)), np.ones((3, 2))), ValueError, r"do not broadcast"),
]  # fmt: skip


@pytest.mark.parametrize(("f", "error", "message"), WRONG)
def test_messages_name_the_thing_the_place_and_the_remedy(f, error, message):
    with pytest.raises(error, match=message):
        f()
