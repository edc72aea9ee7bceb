"""Sorts by several keys: bit for bit what XLA's own are."""

import ml_dtypes
import numpy as np
import pytest

import dovetail
from dovetail import lax, numpy as dnp

TYPES = [
    bool, np.int8, np.uint16, ml_dtypes.bfloat16, np.float16, np.float32, np.int32, np.float64,
    np.uint64,
]  # fmt: skip


@pytest.fixture(autouse=True)
def _wide():
    with dovetail.enable_x64(True):
        yield


def _values(rng, shape, dtype):
    """Few values, so that later keys decide: zeros of both signs and NaN among floats."""
    if np.dtype(dtype).kind in "fV":
        few = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1.5, -3], dtype)
    else:
        few = np.arange(5).astype(dtype)
    return few[rng.integers(0, len(few), shape)]


def _sorted(num_keys, axis=-1):
    def sort(*xs):
        return lax.sort(xs, dimension=axis, num_keys=num_keys)

    return sort


@pytest.mark.parametrize("first", TYPES, ids=lambda t: np.dtype(t).name)
def test_types(same_bits, rng, first):
    for n in (5, 17, 500):
        places = np.arange(n, dtype=np.int32)
        for second in TYPES[::2]:
            x, y = _values(rng, (n,), first), _values(rng, (n,), second)
            result = same_bits(_sorted(2), x, y, places)
        assert sorted(result) == list(places)


def test_three_keys_and_more_that_moves(same_bits, rng):
    keys = [_values(rng, (3000,), t) for t in (np.int32, np.float32, np.uint8)]
    moved = [rng.standard_normal(3000) * 1j, rng.standard_normal(3000) > 0]
    same_bits(_sorted(3), *keys, *moved)
    same_bits(_sorted(2), *keys, *moved)


@pytest.mark.parametrize("shape", [(3, 40, 5), (7, 2, 300), (700, 30), (2, 70_000)])
def test_axes(same_bits, rng, shape):
    x, y = _values(rng, shape, np.float32), _values(rng, shape, np.int32)
    for axis in range(len(shape)):
        if shape[axis] >= 5:
            same_bits(_sorted(2, axis), x, y, np.arange(x.size).reshape(shape))


def test_long_lines(same_bits, rng):
    x, y = rng.integers(0, 9, 100_003), rng.standard_normal(100_003).astype(np.float32)
    same_bits(_sorted(2), x, y, np.arange(100_003))


def test_functions(rng):
    x, y = rng.integers(0, 9, 4000), rng.standard_normal(4000)
    assert np.array_equal(dovetail.jit(lambda x, y: dnp.lexsort((y, x)))(x, y), np.lexsort((y, x)))
    rows = rng.integers(0, 3, (500, 3))
    result = dovetail.jit(lambda x: dnp.unique(x, axis=0, size=27))(rows)
    assert np.array_equal(result, np.unique(rows, axis=0))


def test_derivatives_and_batches(rng):
    x, y = rng.integers(0, 3, (4, 300)), rng.standard_normal((4, 300))
    w = rng.standard_normal(300)

    def loss(y, x):
        return (lax.sort((x, y), num_keys=2)[1] * w).sum()

    result = dovetail.jit(dovetail.vmap(dovetail.grad(loss)))(y, x)
    order = np.stack([np.lexsort(rows) for rows in zip(y, x)])
    assert np.array_equal(np.take_along_axis(result, order, 1), np.broadcast_to(w, (4, 300)))
