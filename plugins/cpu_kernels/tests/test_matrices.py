"""Small matrices: factors multiply to what they are of, as nearly as LAPACK's."""

import numpy as np
import pytest

import dovetail
from dovetail import lax, numpy as dnp

TYPES = [np.float32, np.float64]
SIZES = [1, 2, 4, 7, 24]


@pytest.fixture(autouse=True)
def _wide():
    with dovetail.enable_x64(True):
        yield


@pytest.fixture(params=TYPES, ids=lambda t: t.__name__)
def matrices(request, rng):
    def make(n, count=130):
        return rng.standard_normal((count, n, n)).astype(request.param)

    return make


def _near(x, y, steps=30):
    eps = np.finfo(np.asarray(x).dtype).eps
    scale = np.abs(y).max(axis=(-2, -1), keepdims=True)
    assert np.all(np.abs(x - y) <= steps * y.shape[-1] * eps * scale)


def _of_the_lower_triangle(a):
    return lax.linalg.cholesky(a, symmetrize_input=False)


@pytest.mark.parametrize("n", SIZES)
def test_cholesky(both, matrices, n):
    a = matrices(n)
    a = a @ a.swapaxes(-1, -2) + np.eye(n, dtype=a.dtype)
    (result,), (lapack,) = both(_of_the_lower_triangle, a + np.triu(a, 1))
    assert np.array_equal(result, np.tril(result))
    _near(result @ result.swapaxes(-1, -2), a)
    _near(result, lapack, 100)


@pytest.mark.parametrize("n", [2, 7, 16])
def test_cholesky_takes_the_mean_with_the_transpose_as_it_reads(both, matrices, n):
    a = matrices(n)
    a = a @ a.swapaxes(-1, -2) + 3 * np.eye(n, dtype=a.dtype) + np.triu(a, 1) / n
    mean = (a + a.swapaxes(-1, -2)) / 2
    (result,), (lapack,) = both(dnp.linalg.cholesky, a)
    (apart,), _ = both(_of_the_lower_triangle, mean)
    assert result.tobytes() == apart.tobytes()
    _near(result, lapack, 100)
    taken = lambda f: "symmetrized = true" in dovetail.jit(f).lower(a).as_text()  # noqa: E731
    assert taken(dnp.linalg.cholesky) and not taken(_of_the_lower_triangle)
    turn = lambda x: x.swapaxes(-1, -2)  # noqa: E731
    for other in (lambda x: (x + turn(x)) / 3, lambda x: (x + turn(x + 1)) / 2, lambda x: x / 2):
        assert not taken(lambda x, f=other: _of_the_lower_triangle(f(x)))


def test_cholesky_of_what_is_not_positive_definite(both, matrices):
    a = np.eye(5) + 0 * matrices(5)
    a[3, 2, 2], a[7, 4, 4], a[9, 0, 0] = -1, 0, np.nan
    (result,), (lapack,) = both(lax.linalg.cholesky, a)
    assert np.array_equal(np.isnan(result), np.isnan(lapack)) and np.isnan(result[3, 0, 0])
    assert np.array_equal(result[[0, 1, 2]], a[[0, 1, 2]])


@pytest.mark.parametrize("n", SIZES)
def test_lu(both, matrices, n):
    a = matrices(n)
    (result, pivots, order), (_, *others) = both(lax.linalg.lu, a)
    assert np.array_equal(pivots, others[0]) and np.array_equal(order, others[1])
    lower = np.tril(result, -1) + np.eye(n, dtype=a.dtype)
    _near(lower @ np.triu(result), np.take_along_axis(a, order[..., None], 1))
    assert np.abs(lower).max() <= 1


def test_lu_of_singular_matrices(both, rng):
    a = rng.integers(-1, 2, (64, 4, 4)).astype(np.float64)
    a[:8] = 0
    (result, pivots, order), (lapack, *others) = both(lax.linalg.lu, a)
    assert np.array_equal(pivots, others[0]) and np.array_equal(order, others[1])
    assert np.allclose(result, lapack, atol=1e-14)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangular_systems(both, matrices, rng, lower, transpose, unit):
    def solve(a, y):
        return lax.linalg.triangular_solve(
            a, y, left_side=True, lower=lower, transpose_a=transpose, unit_diagonal=unit
        )

    for n, columns in ((1, 1), (4, 1), (5, 3), (16, 16)):
        a = matrices(n) / n + 2 * np.eye(n).astype(np.float32)
        a = a.astype(matrices(1).dtype)
        y = rng.standard_normal((130, n, columns)).astype(a.dtype)
        (result,), (lapack,) = both(solve, a, y)
        _near(result, lapack, 100)


def test_batches_of_any_shape_and_derivatives(matrices):
    a = matrices(4, 150).reshape(5, 30, 4, 4)
    y = a[..., :1] + 1
    solve = dovetail.jit(dovetail.vmap(dnp.linalg.solve))
    eps = np.finfo(a.dtype).eps
    exact = np.linalg.solve(a.astype(np.float64), y.astype(np.float64))
    condition = np.linalg.cond(a.astype(np.float64))[..., None, None]
    assert np.all(np.abs(solve(a, y) - exact) <= 100 * eps * condition * np.abs(exact).max())
    result = dovetail.jit(dovetail.grad(lambda a: dnp.linalg.slogdet(a)[1].sum()))(a)
    inverse = np.linalg.inv(a.astype(np.float64)).swapaxes(-1, -2)
    assert np.all(np.abs(result - inverse) <= 100 * eps * condition * np.abs(inverse).max())


def test_few_or_large_matrices_are_left_to_lapack(matrices):
    for a in (matrices(4, 3), matrices(25)):
        assert "dovetail_cpu" not in dovetail.jit(lax.linalg.lu).lower(a).as_text()
