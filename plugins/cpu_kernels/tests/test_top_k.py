"""The largest elements: bit for bit those that XLA finds, and where."""

import ml_dtypes
import numpy as np
import pytest

import dovetail
from dovetail import lax

FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@pytest.fixture(autouse=True)
def _wide():
    with dovetail.enable_x64(True):
        yield


def _values(rng, shape, dtype):
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0, 100, shape).astype(dtype)
    special = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1, -1], dtype)
    x = rng.standard_normal(shape).astype(dtype)
    return np.where(rng.random(shape) < 0.2, special[rng.integers(0, 8, shape)], x)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS], ids=lambda t: np.dtype(t).name)
def test_types(same_bits, rng, dtype):
    for n, k in ((8, 8), (100, 10), (1000, 1), (1500, 700), (5000, 40)):
        x = _values(rng, (n,), dtype)
        same_bits(lambda x, k=k: lax.top_k(x, k), x)


@pytest.mark.parametrize("shape", [(3, 1000), (2, 5, 60), (700, 50), (2, 1 << 17), (1, 1 << 18)])
def test_rows(same_bits, rng, shape):
    x = _values(rng, shape, np.float32)
    for k in (8, 33):
        same_bits(lambda x, k=k: lax.top_k(x, k), x)


def test_orders_that_are_not_random(same_bits):
    n = 20_000
    for x in (np.arange(n), np.arange(n)[::-1], np.zeros(n), np.arange(n) % 7):
        for k in (3, 100, n):
            same_bits(lambda x, k=k: lax.top_k(x, k), x.astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, ml_dtypes.bfloat16])
def test_wanted_elements_anywhere_in_long_rows(same_bits, rng, dtype):
    for n, k in ((4096, 8), (5000, 9), (20_001, 39), (20_001, 8)):  # one span of 128 is short
        x = _values(rng, (n,), dtype)
        last = np.sort(np.where(x != x, 0, x).astype(np.float32)).astype(dtype)
        rows = [x, np.zeros(n, dtype), last, last[::-1], np.repeat(x[: n // 50 + 1], 50)[:n]]
        rows.append(np.where(np.arange(n) >= n - 5, np.array(100, dtype), last))
        for row in rows:
            same_bits(lambda x, k=k: lax.top_k(x, k), row.astype(dtype))


def test_derivative_and_batches(rng):
    x = rng.standard_normal((4, 2000)).astype(np.float32)
    result = dovetail.jit(dovetail.vmap(dovetail.grad(lambda x: lax.top_k(x, 9)[0].sum())))(x)
    assert np.array_equal(result, x >= np.sort(x)[:, -9:-8])


def test_what_has_no_kernel_is_left_to_xla(rng):
    x = rng.standard_normal((50, 30)).astype(np.float32)
    assert "dovetail_cpu" not in dovetail.jit(lambda x: lax.top_k(x, 2)).lower(x).as_text()
    values = dovetail.jit(lambda x: lax.top_k(x, 9, axis=0)[0])(x)
    assert np.array_equal(values, -np.sort(-x, axis=0)[:9])
