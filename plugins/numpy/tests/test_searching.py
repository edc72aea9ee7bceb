"""Searching, counting and sets against NumPy; with fixed sizes also while tracing."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_batching import vmap
from dovetail_core import ConcretizationTypeError
from dovetail_jit import jit

CASES = """\
xp.nonzero(b2)
xp.flatnonzero(b2)
xp.argwhere(b2)
xp.where(b2)
xp.searchsorted(srt, f1)
xp.searchsorted(srt, f1, side='right')
xp.searchsorted(srt, n1)
xp.searchsorted(srt, 2)
xp.digitize(f1, srt)
xp.digitize(f1, srt[::-1], right=True)
xp.unique(i1)
xp.unique(i1, return_index=True, return_inverse=True, return_counts=True)
xp.unique(i2 % 2, axis=0, return_counts=True)
xp.unique(n1)
xp.unique_counts(i1)
xp.unique_inverse(i2)
xp.union1d(i1, u1)
xp.intersect1d(i1, u1)
xp.intersect1d(i1, np.arange(-5, 3), return_indices=True)
xp.setdiff1d(i1, u1)
xp.setxor1d(i1, u1)
xp.isin(i1, u1)
xp.isin(i2, np.arange(30), invert=True)
xp.bincount(u1)
xp.bincount(u1, weights=f1)
xp.bincount(u1, minlength=10)
""".splitlines()


@pytest.mark.parametrize("case", CASES)
def test_values(case, same_as_numpy):
    same_as_numpy(case)


@pytest.mark.parametrize("method", ["scan", "sort", "compare_all"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_methods_of_searching_agree(method, side, arrays, near):
    result = dnp.searchsorted(arrays["srt"], arrays["f2"], side=side, method=method)
    near(result, np.searchsorted(np.asarray(arrays["srt"]), np.asarray(arrays["f2"]), side))


@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 100])
def test_bisections_are_loops(size):
    edges = dnp.sort(random.normal(random.key(size), (size,)))
    positions = dnp.concatenate([edges, edges + 0.01, dnp.array([-9.0, 9.0, dnp.nan])])
    for side in ("left", "right"):
        wanted = np.searchsorted(np.asarray(edges), np.asarray(positions), side)
        for method in ("scan", "scan_unrolled"):
            result = dnp.searchsorted(edges, positions, side, method=method)
            np.testing.assert_array_equal(result, wanted)
    each = vmap(dnp.searchsorted)(dnp.stack([edges, edges + 1]), dnp.stack([positions] * 2))
    np.testing.assert_array_equal(each[1], np.searchsorted(np.asarray(edges) + 1, positions))
    text = jit(dnp.searchsorted).lower(edges, positions).as_text()
    assert text.count('"stablehlo.gather"') == 1 or size < 16


def test_histograms(arrays, near):
    x = arrays["f1"]
    for options in ({}, {"bins": 5, "range": (-1, 2)}, {"weights": np.ones(6) * 2},
                    {"density": True}, {"bins": np.array([-3.0, -1, 0, 4])}):  # fmt: skip
        counts, edges = dnp.histogram(x, **options)
        wanted, wanted_edges = np.histogram(np.asarray(x), **options)
        near(counts, wanted.astype(np.float32), 1e-4)
        near(edges, wanted_edges.astype(np.float32), 1e-4)
    counts, *edges = dnp.histogram2d(x, x[::-1], bins=3)
    wanted, *wanted_edges = np.histogram2d(np.asarray(x), np.asarray(x)[::-1], bins=3)
    near(counts, wanted.astype(int))
    near(edges, wanted_edges, 1e-4)


def test_sizes_cut_off_and_fill_up(arrays):
    b, i = arrays["b2"], dnp.asarray([3, 1, 3, 2])
    assert [v.tolist() for v in jit(lambda m: dnp.nonzero(m, size=2))(b)] == [[0, 0], [0, 2]]
    filled = jit(lambda m: dnp.nonzero(m, size=4, fill_value=(7, 8)))(b)
    assert [v.tolist() for v in filled] == [[0, 0, 1, 7], [0, 2, 2, 8]]
    assert jit(lambda v: dnp.unique(v, size=2))(i).tolist() == [1, 2]
    assert jit(lambda v: dnp.unique(v, size=5, fill_value=-1))(i).tolist() == [1, 2, 3, -1, -1]
    assert jit(lambda v: dnp.bincount(v, length=3))(i).tolist() == [0, 1, 1]
    other = dnp.asarray([2, 9])
    assert jit(lambda a, b: dnp.setdiff1d(a, b, size=3, fill_value=0))(i, other).tolist() == [
        1,
        3,
        0,
    ]
    assert jit(lambda a, b: dnp.union1d(a, b, size=4))(i, other).tolist() == [1, 2, 3, 9]
    assert dnp.compress(b[0], arrays["f2"], axis=1, size=3, fill_value=9)[0, 2] == 9


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda x: jit(dnp.nonzero)(x), ConcretizationTypeError, r"nonzero of a traced array.*size="),
    (lambda x: jit(dnp.unique)(x), ConcretizationTypeError, "unique of a traced array.*size="),
    (lambda x: jit(lambda v: dnp.bincount(v.astype(int)))(x), ConcretizationTypeError, "length="),
    (lambda x: dnp.bincount(x), TypeError, "bincount takes integers, got dtype float32"),
    (lambda x: dnp.nonzero(x[0]), ValueError, "at least one dimension"),
    (lambda x: dnp.searchsorted(x, x, side="up"), ValueError, "side must be 'left' or 'right'"),
    (lambda x: dnp.searchsorted(x[None], x), ValueError, r"a must be a vector, got shape \(1, 6\)"),
    (lambda x: dnp.histogram(x, bins="auto"), NotImplementedError, "number of bins or their edges"),
    (lambda x: dnp.where(x > 0, x), ValueError, "either one argument or three"),
    (lambda x: dnp.where(x > 0, x, None), ValueError, "either one argument or three"),
    (lambda x: dnp.sort(x, axis=2), ValueError, "sort: axis 2 is out of bounds"),
    (lambda x: dnp.partition(x, 9), ValueError, "kth 9 is out of bounds"),
])  # fmt: skip
def test_errors(call, error, text, arrays):
    with pytest.raises(error, match=text):
        call(arrays["f1"])


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int32", "uint8", "bool"])
def test_partitions_of_equal_and_extreme_elements(dtype):
    """Each index once, equal elements or not; what has no negative is smallest all the same."""
    rng = np.random.default_rng(0)
    a = rng.integers(-2, 3, (2, 3, 9)).astype(dtype)
    if np.dtype(dtype).kind == "i":
        a[0, 0, 3] = np.iinfo(dtype).min
    if np.dtype(dtype).kind == "f":
        a[0, 1, [2, 5]] = np.nan, np.copysign(np.nan, -1)
        a[1, 1, [0, 1]] = np.inf, -np.inf
    for kth in (0, 1, 4, 8, -3):
        positions = np.asarray(dnp.argpartition(a, kth))
        assert (np.sort(positions, -1) == np.arange(9)).all()
        assert np.asarray(dnp.argpartition(a.swapaxes(0, 2), kth, 0)).swapaxes(0, 2).tolist() == (
            positions.tolist()
        )
        for result in (np.take_along_axis(a, positions, -1), np.asarray(dnp.partition(a, kth))):
            at, ordered = kth % 9, np.sort(a, -1)
            np.testing.assert_array_equal(result[..., at], ordered[..., at])
            np.testing.assert_array_equal(np.sort(result[..., :at], -1), ordered[..., :at])
            np.testing.assert_array_equal(np.sort(result, -1), ordered)
