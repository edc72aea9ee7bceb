"""Factorizations, equations and special matrices against SciPy."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.linalg as sl
from reference_backend import value_of

import dovetail_numpy as dnp
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit
from dovetail_scipy import linalg
from dovetail_testing import assert_close, assert_near, assert_same

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


def agree(result, expected, tol=1e-9):
    result, expected = (x if isinstance(x, (tuple, list)) else (x,) for x in (result, expected))
    for x, y in zip(result, expected, strict=True):
        assert_near(x, y, tol, atol=tol * np.abs(y).max(initial=1))


def precision(dtype):
    return 1e-4 if np.finfo(dtype).nmant < 30 else 1e-10


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky_reads_one_triangle(lower, dtype):
    x = positive(4, dtype)
    spoiled = x + (np.triu if lower else np.tril)(np.full((4, 4), 7), 1 if lower else -1)
    result = linalg.cholesky(spoiled.astype(dtype), lower=lower)
    assert result.dtype == dtype
    agree(result, sl.cholesky(x, lower=lower), precision(dtype))
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
        result = linalg.solve_triangular(x, b, trans=name, lower=lower)
        agree(result, sl.solve_triangular(x, b, trans=trans, lower=lower), precision(dtype) * 100)
        unit = linalg.solve_triangular(x, b, trans=trans, lower=lower, unit_diagonal=True)
        agree(unit, sl.solve_triangular(x, b, trans, lower, unit_diagonal=True), 1e-3)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("assume", ["gen", "sym", "her", "pos"])
def test_equations(assume, lower):
    z = normal(4, 4, dtype="complex128")
    x = {"gen": z, "sym": z + z.T, "her": z + z.conj().T, "pos": z @ z.conj().T}[assume]
    half = x if assume == "gen" else np.tril(x) if lower else np.triu(x)
    b = normal(4, 2)
    solve = partial(linalg.solve, assume_a=assume, lower=lower)
    matrix, vector = jit(lambda a, b: (solve(a, b), solve(a, b[:, 0])))(half, b)
    agree(matrix, np.linalg.solve(x, b))
    agree(vector, np.linalg.solve(x, b[:, 0]))


def test_leading_dimensions_broadcast():
    x, b = np.stack([positive(3), positive(3)]), normal(3, 5)
    expected = np.linalg.solve(x, b)
    solvers = (linalg.solve, lambda a, b: linalg.solve(a, b, assume_a="pos"),
               lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b),
               lambda a, b: linalg.cho_solve(linalg.cho_factor(a), b))  # fmt: skip
    every = jit(lambda x, b: [
        (f(x, b[None]), vmap(f)(x, dnp.stack([b, b])), f(x, b[:, 0])) for f in solvers
    ])  # fmt: skip
    for matrices, mapped, vector in every(x, b):
        agree(matrices, expected)
        agree(mapped, expected)
        agree(vector, expected[..., 0])
    vectors = normal(2, 3)
    agree(linalg.solve_triangular(x, vectors),
          [np.stack([sl.solve_triangular(a, v) for a, v in zip(x, vectors)])])  # fmt: skip
    agree(linalg.inv(x), np.linalg.inv(x))
    agree(linalg.det(x), np.linalg.det(x))


@pytest.mark.parametrize("shape", [(4, 4), (4, 3), (3, 4)])
def test_lu_and_qr(shape):
    x = normal(*shape)
    stack = np.stack([x, -x])
    ways = [{"mode": m, "pivoting": p} for m in ("full", "economic", "r") for p in (True, False)]
    plain, permuted, factor, stacked, decompositions = jit(lambda x, stack: (
        linalg.lu(x), linalg.lu(x, permute_l=True), linalg.lu_factor(x), linalg.lu(stack),
        [linalg.qr(x, **how) for how in ways],
    ))(x, stack)  # fmt: skip
    agree(plain, sl.lu(x))
    agree(permuted, sl.lu(x, permute_l=True))
    agree(factor, sl.lu_factor(x))
    p, lower, upper = map(np.asarray, stacked)
    agree(p @ lower @ upper, stack)
    for how, result in zip(ways, decompositions, strict=True):
        agree(result, sl.qr(x, **how))


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
    agrees_with_scipys_polar(value_of, normal(*shape, dtype=dtype), side)


def test_compiled_polar_decompositions():
    agrees_with_scipys_polar(lambda f, x: jit(f)(x), normal(4, 3, dtype="complex128"), "right")


def agrees_with_scipys_polar(run, x, side):
    expected, stack = sl.polar(x, side), np.stack([x, -x])
    for method in ("qdwh", "svd"):
        result = run(lambda x, method=method: linalg.polar(x, side, method=method), x)
        agree(result, expected, precision(x.dtype) * 10)
    stacked = value_of(lambda x: linalg.polar(x, side), stack)
    agree(stacked[1][1], expected[1], precision(x.dtype) * 10)


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
    agree(value_of(linalg.rsf2csf, *sl.schur(x[0])), sl.rsf2csf(*sl.schur(x[0])))


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
    compiled = n == 3
    run = (lambda f, *args: jit(f)(*args)) if compiled else value_of
    for name in ("circulant", "companion", "fiedler", "fiedler_companion", "hankel", "toeplitz"):
        f, expected = getattr(linalg, name), getattr(sl, name)(v)
        agree(f(v) if compiled else value_of(f, v), expected, 1e-14)
        stack = np.stack([v, v])
        agree(value_of(f, stack)[1], expected, 1e-14)
        if compiled:
            agree(jit(vmap(f))(stack)[1], expected, 1e-14)
    pairs = run(lambda v, u, z: (
        linalg.toeplitz(z), linalg.toeplitz(v, u), linalg.hankel(v, u), linalg.leslie(v, v[1:])
    ), v, u, z)  # fmt: skip
    wanted = sl.toeplitz(z), sl.toeplitz(v, u), sl.hankel(v, u), sl.leslie(v, v[1:])
    agree(pairs, wanted)
    sizes = [(m, mode) for m in (1, 4, 9) for mode in ("full", "same", "valid")]
    result = run(lambda v: [linalg.convolution_matrix(v, *size) for size in sizes], v)
    agree(result, [sl.convolution_matrix(v, *size) for size in sizes])
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
    run = value_of if x.size else lambda f, *args: f(*args)
    for name in ("cholesky", "inv", "expm", "hessenberg"):
        assert run(getattr(linalg, name), x).shape == shape
    for name in ("schur", "polar"):
        assert [v.shape for v in run(getattr(linalg, name), x)] == [shape, shape]
    solvers = (linalg.solve, lambda x, b: linalg.solve(x, b, assume_a="pos"),
               lambda x, b: linalg.lu_solve(linalg.lu_factor(x), b), linalg.solve_triangular,
               lambda x, b: linalg.solve_sylvester(x, x, 2 * b), lambda x, _: linalg.sqrtm(x),
               )  # fmt: skip
    for result in (run(f, x, x) for f in solvers):
        assert_close(result, np.ones(shape) + 0 * np.asarray(result))
    assert_same(run(linalg.det, x), np.ones(shape[:-2]))
    assert [v.shape for v in run(linalg.rsf2csf, x, x)] == [shape, shape]


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


def test_whether_to_transpose_may_be_a_boolean():
    a, b = np.tril(np.arange(1.0, 10).reshape(3, 3)).astype(np.float32), np.ones(3, np.float32)
    for trans in (True, False):
        result = linalg.solve_triangular(a, b, trans=trans, lower=True)
        wanted = linalg.solve_triangular(a, b, trans=int(trans), lower=True)
        np.testing.assert_array_equal(result, wanted)
