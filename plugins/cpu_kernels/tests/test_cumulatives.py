"""Cumulatives: maxima, minima and integers bit for bit, sums and products nearly as exact ones."""

import numpy as np
import pytest

import dovetail
from dovetail import lax, numpy as dnp

OPERATIONS = [lax.cumsum, lax.cumprod, lax.cummax, lax.cummin]
TYPES = [np.float32, np.float64, np.int32, np.int64, np.uint32, np.uint64]
SHAPES = [(8,), (4097,), (20_000,), (40, 700), (9, 8, 30)]
EXACT = [(f, t) for f in OPERATIONS for t in TYPES if t in TYPES[2:] or f in OPERATIONS[2:]]


@pytest.fixture(autouse=True)
def _wide():
    with dovetail.enable_x64(True):
        yield


def _axes(shape):
    return [a for a in range(len(shape)) if shape[a] >= 8]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("operation", "dtype"), EXACT, ids=lambda x: x.__name__)
def test_what_is_exact(same_bits, rng, operation, dtype, reverse):
    for shape in SHAPES[2 * reverse :]:
        x = (rng.standard_normal(shape) * 1e9).astype(np.int64).astype(dtype)
        for axis in _axes(shape):
            same_bits(lambda x, axis=axis: operation(x, axis=axis, reverse=reverse), x)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", TYPES[:2], ids=lambda t: np.dtype(t).name)
def test_sums_are_rounded_no_worse_than_one_by_one(both, rng, dtype, reverse):
    for shape in SHAPES:
        x = rng.standard_normal(shape).astype(dtype)
        for axis in _axes(shape):
            turned = np.flip(x, axis) if reverse else x
            exact = np.cumsum(turned.astype(np.longdouble), axis=axis)
            scale = np.cumsum(abs(turned.astype(np.longdouble)), axis=axis)
            result, _ = both(lambda x, axis=axis: lax.cumsum(x, axis=axis, reverse=reverse), x)
            result = np.flip(result[0], axis) if reverse else result[0]
            steps = 8 + np.arange(shape[axis]).reshape(
                [-1 if a == axis else 1 for a in range(x.ndim)]
            )
            assert np.all(
                abs(result - exact) <= np.minimum(steps, 4096) * np.finfo(dtype).eps * scale
            )


def test_products(both, rng):
    x = 1 + 1e-3 * rng.standard_normal(9000)
    (result,), (xla,) = both(lambda x: lax.cumprod(x), x)
    assert np.allclose(result, np.cumprod(x), rtol=1e-11) and np.allclose(xla, result, rtol=1e-11)


def test_special_values(same_bits):
    x = np.array([0.0, -0.0, -1, np.inf, -np.inf, 3, -0.0, 0.0, 1, 2] * 3, np.float32)
    for y in (x, x[::-1], -x, np.abs(x[[1, 0, 6, 7] * 5]) * -0.0):
        same_bits(lambda x: lax.cummax(x), y)
        same_bits(lambda x: lax.cummin(x), y)
    y = np.r_[x[:15], np.nan, x[15:]].astype(np.float32)
    for operation in OPERATIONS:
        with np.errstate(all="ignore"):
            result = np.asarray(dovetail.jit(operation)(y))
            assert np.isnan(result[15:]).all()


def test_derivatives_and_batches(rng):
    x = rng.standard_normal((3, 5000))
    w = rng.standard_normal(5000)
    result = dovetail.jit(dovetail.vmap(dovetail.grad(lambda x: (dnp.cumsum(x) * w).sum())))(x)
    assert np.allclose(result, np.cumsum(w[::-1])[::-1], rtol=1e-9, atol=1e-9)


def test_the_number_of_threads_changes_nothing(rng):
    x = rng.standard_normal((2, 50_000)).astype(np.float32)
    whole = dovetail.jit(lambda x: lax.cumsum(x, axis=1))(x)
    rows = [dovetail.jit(lax.cumsum)(r) for r in x]
    assert np.array_equal(whole, np.stack(rows))
