"""Interpolation, and quantization of vectors, against SciPy's; derivatives, corners, bad input."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.cluster.vq
import scipy.interpolate
import scipy.ndimage

import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_ad.test_util import check_grads
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit
from dovetail_scipy.cluster.vq import vq
from dovetail_scipy.interpolate import RegularGridInterpolator
from dovetail_scipy.ndimage import map_coordinates

RNG = np.random.default_rng(0)
IMAGE = RNG.normal(size=(3, 4)).astype(np.float32)
AT = [RNG.uniform(-7, 9, size=(5, 40)).astype(np.float32) for _ in range(2)]
THEIRS = {"wrap": "grid-wrap", "constant": "grid-constant"}  # SciPy's names for the same
GRID = (np.float32([0, 1, 2.5]), np.float32([-1, 0, 3, 4]))
POINTS = RNG.uniform(-2, 5, size=(50, 2)).astype(np.float32)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("mode", ["constant", "nearest", "wrap", "mirror", "reflect"])
def test_map_coordinates(mode: str, order: int) -> None:
    wanted = scipy.ndimage.map_coordinates(
        IMAGE, AT, order=order, mode=THEIRS.get(mode, mode), cval=0.5
    )
    result = map_coordinates(IMAGE, AT, order, mode, 0.5)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, wanted, atol=2e-5)
    assert map_coordinates(IMAGE[:1], [0 * AT[0], AT[1]], order, mode).shape == (5, 40)
    rows = vmap(lambda a, b: map_coordinates(IMAGE, [a, b], order, mode, 0.5))(*AT)
    np.testing.assert_allclose(rows, result, atol=1e-6)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float16", "bfloat16", "complex64"])
def test_types_of_images(dtype: str) -> None:
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    image = (IMAGE * 10 + 30).astype(kind)
    result = map_coordinates(image, [np.float32([0.5, 1.25]), np.float32([1.0, 2.0])], 1)
    assert result.dtype == kind
    wide = image.astype(np.complex64)
    wanted = np.asarray([(wide[0, 1] + wide[1, 1]) / 2, wide[1, 2] * 0.75 + wide[2, 2] / 4])
    atol = {"f": 0.2, "V": 0.2, "c": 1e-5}.get(kind.kind, 0.5001)
    np.testing.assert_allclose(np.asarray(result).astype(np.complex64), wanted, atol=atol)


def test_derivatives_of_map_coordinates() -> None:
    with enable_x64(True):
        at = [np.asarray([0.3, 1.6]), np.asarray([2.2, 0.1])]
        check_grads(lambda x, c: map_coordinates(x, c, 1), (IMAGE.astype(float), at), 2)


def test_halves_are_rounded_away_from_zero() -> None:
    x = np.arange(4, dtype=np.float32)
    result = map_coordinates(x, [np.float32([0.5, 1.5, -0.4])], 0, "nearest")
    np.testing.assert_array_equal(result, [1, 2, 0])
    np.testing.assert_array_equal(map_coordinates(-x.astype(int), [np.float32([1.5])], 1), [-2])


@pytest.mark.parametrize("method", ["linear", "nearest"])
@pytest.mark.parametrize("fill", [np.nan, 7.0, None])
def test_regular_grid(method: str, fill: Any) -> None:
    ours = RegularGridInterpolator(GRID, IMAGE, method, fill_value=fill)
    theirs = scipy.interpolate.RegularGridInterpolator(
        GRID, IMAGE.astype(float), method, bounds_error=False, fill_value=fill
    )
    wanted = theirs(POINTS)
    np.testing.assert_allclose(ours(POINTS), wanted, atol=2e-5)
    np.testing.assert_allclose(jit(ours)(POINTS), wanted, atol=2e-5)
    np.testing.assert_allclose(vmap(ours)(POINTS), wanted, atol=2e-5)
    pair = ours((POINTS[:5, :1], POINTS[:7, 1]))
    np.testing.assert_allclose(pair, theirs((POINTS[:5, :1], POINTS[:7, 1])), atol=2e-5)
    other = "nearest" if method == "linear" else "linear"
    np.testing.assert_allclose(ours(POINTS, other), theirs(POINTS, other), atol=2e-5)


def test_values_with_more_dimensions_and_grids_of_one() -> None:
    values = RNG.normal(size=(3, 4, 2)).astype(np.float32)
    theirs = scipy.interpolate.RegularGridInterpolator(GRID, values, bounds_error=False)
    result = RegularGridInterpolator(GRID, values)(POINTS)
    np.testing.assert_allclose(result, theirs(POINTS), atol=2e-5)
    line = RegularGridInterpolator(GRID[:1], IMAGE[:, 0])
    assert line(np.float32([0.5, 1])).shape == (2,) and line(np.float32(0.5)).shape == ()
    integers = RegularGridInterpolator((np.arange(3),), np.arange(3))(np.asarray([[1]]))
    assert integers.dtype == np.float32 and integers == 1
    corner = RegularGridInterpolator(GRID, IMAGE)(np.float32([2.5, 4]))
    np.testing.assert_array_equal(corner, IMAGE[2, 3])


def test_derivatives_of_regular_grids() -> None:
    def f(values: Any, lines: Any, xi: Any) -> Any:
        return RegularGridInterpolator((lines, np.asarray([0.0, 1.0])), values)(xi)

    with enable_x64(True):
        values = RNG.normal(size=(3, 2))
        check_grads(f, (values, np.asarray([0.0, 1, 3]), np.asarray([[0.4, 0.3], [2.5, 0.8]])), 2)
        outside = grad(lambda x: f(values, np.arange(3.0), x)[0])(np.asarray([[9.0, 0.5]]))
    np.testing.assert_array_equal(outside, [[0, 0]])


@pytest.mark.parametrize("shape", [(), (3,)])
def test_vq(shape: tuple[int, ...]) -> None:
    obs, codes = (RNG.normal(size=(n, *shape)).astype(np.float32) for n in (20, 5))
    index, distance = vq(obs, codes)
    theirs = scipy.cluster.vq.vq(obs.reshape(20, -1), codes.reshape(5, -1))
    np.testing.assert_array_equal(index, theirs[0])
    np.testing.assert_allclose(distance, theirs[1], rtol=1e-5)
    assert index.dtype == np.int32
    np.testing.assert_array_equal(jit(vq)(obs, codes)[0], index)
    assert vq(obs.astype(int), codes.astype(int), False)[1].dtype == np.float32
    assert np.all(np.isnan(vq(obs * np.nan, codes)[1]))


def test_the_derivative_of_distances() -> None:
    obs, codes = np.float32([[3, 4], [9, 0]]), np.float32([[0, 0], [8, 0]])
    result = grad(lambda c: dnp.sum(vq(obs, c)[1]))(codes)
    np.testing.assert_allclose(result, [[-0.6, -0.8], [-1, 0]], rtol=1e-6)


MAKE = RegularGridInterpolator
WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "order": (lambda: map_coordinates(IMAGE, AT, 3), NotImplementedError, "order must be 0 or 1"),
    "no order": (lambda: map_coordinates(IMAGE, AT, 0.5), TypeError, "order must be an integer"),
    "mode": (lambda: map_coordinates(IMAGE, AT, 1, "x"), NotImplementedError, "got 'x'"),
    "coordinates": (lambda: map_coordinates(IMAGE, AT[:1], 1), ValueError, "2 arrays, one for"),
    "image": (lambda: map_coordinates("x", AT, 1), TypeError, "map_coordinates requires an array"),
    "method": (
        lambda: MAKE(GRID, IMAGE, "cubic"),
        ValueError,
        "'linear' or 'nearest', got 'cubic'",
    ),
    "later method": (lambda: MAKE(GRID, IMAGE)(POINTS, "x"), ValueError, "'nearest', got 'x'"),
    "bounds": (lambda: MAKE(GRID, IMAGE, "linear", True), NotImplementedError, "bounds_error=True"),
    "grid": (lambda: MAKE(GRID, IMAGE.T), ValueError, "points[0] must be a vector of at least two"),
    "lines": (lambda: MAKE(GRID * 2, IMAGE), ValueError, "4 vectors of points, but values have 2"),
    "fill": (lambda: MAKE(GRID, IMAGE, fill_value=1j), ValueError, "fill_value 1j cannot stand"),
    "points": (lambda: MAKE(GRID, IMAGE)(AT[0]), ValueError, "must have 2 coordinates, as the"),
    "codes": (lambda: vq(IMAGE, IMAGE.T), ValueError, "got shapes (3, 4) and (4, 3)"),
    "ranks": (lambda: vq(IMAGE, IMAGE[0]), ValueError, "both vectors, or both matrices"),
    "no codes": (lambda: vq(IMAGE, IMAGE[:0]), ValueError, "code_book not empty"),
    "obs": (lambda: vq(None, IMAGE), TypeError, "vq requires an array"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(name: str) -> None:
    call, kind, text = WRONG[name]
    with pytest.raises(kind) as e:
        call()
    assert text in str(e.value) and "test_grids.py" in str(e.value)
