"""Sorts: bit for bit what XLA's own are, whatever the type, the shape and the values."""

import ml_dtypes
import numpy as np
import pytest

import dovetail
from dovetail import lax, numpy as dnp

FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
SIZES = [2, 15, 16, 17, 100, 191, 192, 1000, 6001]


@pytest.fixture(autouse=True)
def _wide():
    with dovetail.enable_x64(True):
        yield


def _values(rng, shape, dtype):
    """Any bits at all: every NaN, zeros of both signs, infinities, subnormals, equal elements.

    Of bfloat16 only one NaN of each sign: XLA converts them, and changes others on the way.
    """
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    x = rng.integers(0, 256, (*shape, dtype.itemsize), np.uint8).view(dtype)[..., 0]
    if dtype.kind in "iu":
        return np.where(rng.random(shape) < 0.3, dtype.type(7), x)
    if dtype == ml_dtypes.bfloat16:
        bits = x.view(np.uint16)
        x = np.where((bits & 0x7FFF) > 0x7F80, np.uint16(1), bits).view(dtype)
    special = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1, -1], dtype)
    return np.where(rng.random(shape) < 0.5, special[rng.integers(0, 8, shape)], x)


def _stable(*xs, axis=-1):
    return lax.sort(xs, dimension=axis, is_stable=True, num_keys=1)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, bool], ids=lambda t: np.dtype(t).name)
def test_values_and_places(same_bits, rng, dtype):
    for n in SIZES:
        x = _values(rng, (n,), dtype)
        same_bits(_stable, x)
        places = same_bits(_stable, x, np.arange(n, dtype=np.int32))
        assert sorted(places) == list(range(n))


@pytest.mark.parametrize("n", [1 << 16, 100_003])
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8], ids=lambda t: np.dtype(t).name)
def test_long_lines(same_bits, rng, n, dtype):
    x = _values(rng, (n,), dtype)
    same_bits(_stable, x)
    same_bits(_stable, x, np.arange(n, dtype=np.int32))


@pytest.mark.parametrize("carried", [np.int8, np.float16, np.float32, np.float64, np.complex128])
def test_what_moves_along(same_bits, rng, carried):
    x = _values(rng, (500,), np.float32)
    y = rng.standard_normal(500).astype(carried)
    same_bits(_stable, x, y)
    same_bits(_stable, x, y, x, y > 0)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("shape", [(3, 40, 5), (40, 3, 33), (7, 300, 2), (2, 17, 2)])
def test_axes(same_bits, rng, shape, axis):
    x, y = _values(rng, shape, np.float32), rng.integers(0, 9, shape)
    same_bits(lambda x, y: _stable(x, y, axis=axis), x, y)
    same_bits(lambda x: _stable(x, axis=axis), x)


def test_many_rows_in_many_threads(same_bits, rng):
    x = _values(rng, (5000, 30), np.float32)
    same_bits(lambda x: _stable(x, axis=1), x)
    same_bits(lambda x: _stable(x, axis=0), x)


def test_numpys_order(rng):
    x = rng.standard_normal(30_000).astype(np.float32)
    x[::7] = np.nan
    assert np.array_equal(dnp.argsort(x), np.argsort(x, kind="stable"))
    assert np.array_equal(dnp.sort(x), np.sort(x), equal_nan=True)


def test_orders_that_are_not_random(same_bits):
    n = 70_000
    for x in (np.arange(n), np.arange(n)[::-1], np.zeros(n), np.arange(n) % 3, np.arange(n) >> 8):
        same_bits(_stable, x.astype(np.float32), np.arange(n, dtype=np.int32))


def test_transformations_go_on(rng):
    x = rng.standard_normal((6, 400)).astype(np.float32)
    w = rng.standard_normal(400).astype(np.float32)
    result = dovetail.jit(dovetail.vmap(dovetail.grad(lambda x: (dnp.sort(x) * w).sum())))(x)
    ranks = np.argsort(np.argsort(x, axis=1), axis=1)
    assert np.array_equal(result, w[ranks])
    assert np.array_equal(dovetail.jit(dnp.median)(x), np.median(x))
    assert np.array_equal(dnp.unique(dnp.round(x)), np.unique(np.round(x)))


def test_what_has_no_kernel_is_left_to_xla(rng):
    z = rng.standard_normal(50) + 1j
    text = dovetail.jit(dnp.sort).lower(z).as_text()
    assert "stablehlo.sort" in text and "dovetail_cpu" not in text
    assert np.array_equal(dnp.sort(z), np.sort(z))
    two = dovetail.jit(lambda x, y: lax.sort((x, y), num_keys=2)).lower(z, z.imag)
    assert "stablehlo.sort" in two.as_text()
