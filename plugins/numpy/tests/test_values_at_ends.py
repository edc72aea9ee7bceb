"""Values and slopes where operands are infinite, NaN, huge, empty or of one row, as NumPy's."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail import grad, jacfwd, jit, vmap
from dovetail_ad.test_util import check_grads
from dovetail_core import enable_x64

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize("run", [lambda f: f, jit, vmap], ids=["eager", "jit", "vmap"])
@pytest.mark.parametrize("f", [dnp.nanvar, dnp.nanstd])
def test_slopes_of_spreads_without_nan(f: Any, run: Any) -> None:
    """Elements that are left out have the slope 0, others that of the variance of the rest."""
    x = np.array([[NAN, 1, 2, 3, 5], [4, NAN, NAN, 0, 1]], np.float32)
    for row in x:
        kept = row[~np.isnan(row)]
        wanted = np.zeros(5)
        wanted[~np.isnan(row)] = 2 * (kept - kept.mean()) / len(kept)
        wanted /= 2 * kept.std() if f is dnp.nanstd else 1
        for slope in (grad(f), jacfwd(f)):
            result = run(slope)(row[None] if run is vmap else row)
            np.testing.assert_allclose(np.ravel(result), wanted, rtol=1e-5, atol=1e-7)
    z = np.array([NAN, 1 + 2j, 3 - 1j], np.complex64)
    np.testing.assert_allclose(f(z), getattr(np, f.__name__)(z), rtol=1e-6)
    masked = grad(lambda x: dnp.var(x, where=np.array([False, True, True])))
    np.testing.assert_allclose(masked(np.array([INF, 1, 4], np.float32)), [0, -1.5, 1.5])


@pytest.mark.parametrize("run", [lambda f: f, jit])
def test_sums_of_truth_values(run: Any) -> None:
    """Sums and products with ``dtype=bool`` are those of truth values, of which 0.1 is one."""
    x = np.array([[0.1, -0.1], [0.0, 0.0], [0.5, 0.0], [NAN, 2.0]], np.float32)
    for y in (x, x.astype(np.complex64), (10 * np.nan_to_num(x)).astype(np.int32), x != 0):
        for name in ("sum", "prod"):
            result = run(partial(getattr(dnp, name), axis=1, dtype=bool))(y)
            np.testing.assert_array_equal(result, getattr(np, name)(y, axis=1, dtype=bool))
        for name in ("cumsum", "cumprod"):
            result = run(partial(getattr(dnp, name), axis=1, dtype=bool))(y)
            np.testing.assert_array_equal(result, getattr(np, name)(y, axis=1, dtype=bool))
    none = np.zeros(3, np.float32)
    assert run(lambda y: dnp.sum(y, dtype=bool, initial=0.5))(none)
    assert not run(lambda y: dnp.prod(y + 1, dtype=bool, initial=0.0))(none)
    assert not run(lambda y: dnp.sum(y + 1, dtype=bool, where=y > 0))(none)
    named = vmap(lambda y: dnp.sum(y, axis="i", dtype=bool), axis_name="i")(x[:3, 0])
    assert named.dtype == bool and named.all()
    np.testing.assert_array_equal(
        dnp.cumulative_sum(x[:3], axis=1, dtype=bool), np.cumsum(x[:3], axis=1, dtype=bool)
    )


LINES = [
    ([0, 0.5, 1, 1e9, INF, -INF], [-INF, INF], [0, 1]),
    ([0, 0.5, 1], [0, 1], [-INF, INF]),
    ([0, 0.5, 1], [0, 1], [INF, INF]),
    ([0, 0.5, 1, 1.5, 2], [0, 1, 2], [0, INF, 3]),
    ([-5, 0, 0.5, 1, 1.5, 2], [-INF, 1, 2], [0, 1, 3]),
    ([-5, 0, 0.5, 1, 1.5, 2, 3e3], [-1, 1, INF], [0, 1, 3]),
    ([-INF, -5, 0, 5, INF], [-INF, 0, INF], [1, 1, 1]),
    ([0.5, NAN], [0, 1], [NAN, 1]),
    ([0, 0.5, 1], [-3e38, 3e38, INF], [-3e38, 3e38, 0]),
    ([0, 1e38, -2e38, 2.9e38], [-3e38, 3e38], [-3e38, 3e38]),
    ([NAN, 0, 1], [0, 1], [5, 5]),
    ([0, 0.5, 1, 2], [0, 1, 1, 2], [0, 1, 3, 4]),
]


@pytest.mark.parametrize("line", LINES)
def test_interpolation_between_infinite_ends(line: Any) -> None:
    """Values are NumPy's."""
    x, xp, fp = (np.array(v, np.float32) for v in line)
    wanted = np.interp(x, xp, fp).astype(np.float32)
    for f in (dnp.interp, jit(dnp.interp)):
        np.testing.assert_allclose(f(x, xp, fp), wanted, rtol=1e-6, atol=1e31)
    small = np.abs(wanted) < 1e30
    np.testing.assert_allclose(np.asarray(dnp.interp(x, xp, fp))[small], wanted[small], rtol=1e-6)


def test_slopes_of_interpolation_beside_infinite_ends() -> None:
    """Slopes between finite points are finite, whatever other points are."""
    xp, fp = np.array([-INF, 0, 1, 2, INF], np.float32), np.array([1, 0, 3, INF, 2], np.float32)
    in_x, in_f = grad(lambda x, f: dnp.interp(x, xp, f), (0, 1))(np.float32(0.25), fp)
    assert float(in_x) == 3 and np.asarray(in_f).tolist() == [0, 0.75, 0.25, 0, 0]
    with enable_x64(True):
        xs, fs = np.array([0.0, 1.0, 3.0]), np.array([1.0, -2.0, 0.5])
        check_grads(lambda x, f: dnp.interp(x, xs, f), (np.array([0.3, 2.2]), fs), 2)


def test_covariance_of_one_row_of_variables() -> None:
    """Without ``rowvar`` a matrix of one row holds one observation of many variables."""
    x = np.random.default_rng(0).normal(size=(1, 3)).astype(np.float32)
    assert dnp.cov(x, rowvar=False, ddof=0).shape == np.cov(x, rowvar=False, ddof=0).shape == (3, 3)
    assert dnp.corrcoef(x, rowvar=False).shape == (3, 3)
    for m, y in (((3,), (3, 1)), ((3,), (3, 2)), ((3, 2), (3,)), ((3, 2), (1, 3)), ((3, 1), (3,))):
        a, b = (np.random.default_rng(1).normal(size=s).astype(np.float32) for s in (m, y))
        for f in ("cov", "corrcoef"):
            wanted = getattr(np, f)(a, b, rowvar=False)
            np.testing.assert_allclose(
                getattr(dnp, f)(a, b, rowvar=False), wanted, rtol=1e-4, atol=1e-6
            )


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float8_e5m2"])
def test_partitions_of_narrow_numbers(dtype: str) -> None:
    """Partitions are of every type of floating-point numbers, NaN last."""
    x = dnp.asarray([3, 1, NAN, 2, -4, 0], dtype)
    result = np.asarray(dnp.partition(x, 2), np.float32)
    assert sorted(result[:2]) == [-4, 0] and result[2] == 1 and np.isnan(result).sum() == 1
    at = np.asarray(dnp.argpartition(x, 2))
    assert sorted(at.tolist()) == list(range(6)) and at[2] == 1


def test_least_squares_of_nothing() -> None:
    """Without columns or rows the solution is zero, and what is left is all of the right side."""
    for m, k in ((4, 0), (0, 3), (0, 0)):
        for right in ((m,), (m, 2)):
            b = np.arange(1.0, 1.0 + np.prod(right)).reshape(right).astype(np.float32)
            x, rest, rank, s = dnp.linalg.lstsq(dnp.zeros((m, k)), b)
            wanted = np.linalg.lstsq(np.zeros((m, k)), b, rcond=None)
            assert x.shape == wanted[0].shape and not np.asarray(x).any()
            assert int(rank) == wanted[2] == 0 and s.shape == wanted[3].shape
            np.testing.assert_allclose(rest, np.atleast_1d((b**2).sum(0)))


def test_grids_without_axes() -> None:
    """An empty index of a grid is what it is in NumPy."""
    assert dnp.mgrid[()].shape == np.mgrid[()].shape == (0,)
    assert len(dnp.ogrid[()]) == len(np.ogrid[()]) == 0


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_insertion_at_traced_places(axis: int | None) -> None:
    """Indices that are traced insert where known ones do; beyond the ends they are limited."""
    a = np.arange(6).reshape(3, 2)
    value = np.array([7, 8, 9])[: 3 if axis == 1 else 2 if axis == 0 else 1]
    insert = jit(lambda a, i: dnp.insert(a, i, value, axis=axis))
    for i in (0, 1, 2, -1):
        np.testing.assert_array_equal(insert(a, np.int32(i)), np.insert(a, i, value, axis=axis))
    positions = np.array([1, 0, 1, -1])
    many = jit(lambda a, i: dnp.insert(a, i, 5, axis=axis))
    for i in (positions, positions[:1], positions.astype(np.int8), positions[:0]):
        np.testing.assert_array_equal(many(a, i), np.insert(a, i.astype(int), 5, axis=axis))
    row = jit(lambda a, i: dnp.insert(a, i, 9))
    assert row(np.arange(4), 7).tolist() == [0, 1, 2, 3, 9]
    assert row(np.arange(4), -9).tolist() == [9, 0, 1, 2, 3]
    mapped = vmap(lambda i: dnp.insert(np.arange(2), i, 9))(np.arange(3))
    assert mapped.tolist() == [[9, 0, 1], [0, 9, 1], [0, 1, 9]]
    slope = grad(lambda v: dnp.insert(np.zeros(2), np.int32(1), v)[1])(np.float32(3))
    assert float(slope) == 1


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_matrices_of_index_expressions() -> None:
    """``r_['r', ...]`` and ``c_['c', ...]`` have the shapes of NumPy's matrices."""
    for f in (
        lambda m: m.r_["r", np.array([1, 2, 3])],
        lambda m: m.r_["c", np.array([1, 2, 3]), np.array([4])],
        lambda m: m.r_["c", 0:3, np.ones(2)],
        lambda m: m.r_["r", 1, 2],
        lambda m: m.c_["c", np.array([1, 2])],
        lambda m: m.c_["r", np.array([1, 2])],
        lambda m: m.r_["r", np.ones((2, 2)), np.zeros((1, 2))],
    ):
        np.testing.assert_array_equal(f(dnp), np.asarray(f(np)))
    with pytest.raises(ValueError, match="'r' makes a matrix of arrays of at most two dimensions"):
        dnp.r_["r", np.ones((1, 1, 1))]


def test_large_python_integers() -> None:
    """Python integers of any size become floating-point numbers, and wrap around in integers."""
    convert = lax.convert_element_type
    for v in (2**100, -(2**70), 2**31, 2**24 + 1):
        for dtype in ("float32", "bfloat16", "complex64"):
            result = convert(v, dtype)
            assert result.dtype == dtype and not result.aval.weak_type
            assert result == dnp.asarray(float(v), dtype)
    assert convert(2**200, np.float32) == INF and convert(-(10**400), np.float32) == -INF
    assert convert(2**70, bool).dtype == bool and bool(convert(2**70, bool))
    for v, dtype in ((2**31, "uint32"), (2**40 + 3, "int32"), (-(2**40) - 1, "uint8")):
        assert int(convert(v, dtype)) == int(np.array(v).astype(dtype))
    for f in (
        lambda: lax.full((2,), 2**100, np.float32),
        lambda: lax.full_like(dnp.ones(2), 2**100),
        jit(lambda: convert(2**100, np.float32) * dnp.ones(2)),
    ):
        assert np.asarray(f()).tolist() == [np.float32(2**100)] * 2
    with pytest.raises(OverflowError, match="does not fit into int32"):
        convert(2**70, np.int32)
