"""Resizing against interpolation by NumPy, means, and what every kernel has to keep."""

from __future__ import annotations

from math import pi
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_ad.test_util import check_grads
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit
from dovetail_nn import image
from dovetail_nn.image import ResizeMethod

X = np.sin(np.arange(60.0)).reshape(4, 5, 3).astype(np.float32)
SMOOTH = [m for m in ResizeMethod if m is not ResizeMethod.NEAREST]


def centers(n: int, m: int) -> Any:
    return (np.arange(m) + 0.5) * n / m - 0.5


@pytest.mark.parametrize("m", [1, 3, 5, 11])
def test_linear_interpolation_is_that_of_numpy(m: int):
    result = image.resize(X, (4, m, 3), "bilinear", antialias=False)
    wanted = np.apply_along_axis(lambda row: np.interp(centers(5, m), np.arange(5), row), 1, X)
    np.testing.assert_allclose(result, wanted, atol=1e-6)


def test_the_nearest_element_keeps_integers():
    x = np.arange(5, dtype=np.int32)
    np.testing.assert_array_equal(image.resize(x, (10,), "nearest"), np.repeat(x, 2))
    np.testing.assert_array_equal(image.resize(x, (3,), "nearest"), [0, 2, 4])
    assert image.resize(x, (10,), "nearest").dtype == np.int32
    assert image.resize(x, (10,), "linear").dtype == np.float32


def test_areas_are_means():
    x = np.arange(48.0, dtype=np.float32).reshape(6, 8)
    result = image.resize(x, (2, 4), "area")
    np.testing.assert_allclose(result, x.reshape(2, 3, 4, 2).mean((1, 3)), rtol=1e-6)


@pytest.mark.parametrize("method", SMOOTH)
@pytest.mark.parametrize("shape", [(8, 3, 3), (1, 1, 3), (4, 12, 3)])
@pytest.mark.parametrize("antialias", [True, False])
def test_constants_stay_and_the_order_of_axes_does_not_matter(method, shape, antialias):
    ones = image.resize(np.ones_like(X), shape, method, antialias)
    np.testing.assert_allclose(ones, np.ones(shape), rtol=1e-5)
    turned = image.resize(X.transpose(2, 1, 0), shape[::-1], method, antialias)
    result = image.resize(X, shape, method, antialias)
    np.testing.assert_allclose(result, turned.transpose(2, 1, 0), atol=2e-6)
    np.testing.assert_allclose(jit(image.resize, static_argnums=(1, 2, 3))(X, shape, method,
                               antialias), result, atol=2e-6)  # fmt: skip


@pytest.mark.parametrize("method", ["linear", "cubic", "cubic-pytorch", "lanczos3", "lanczos5"])
def test_elements_in_their_places_are_kept(method: str):
    out = image.resize(X, (12, 15, 3), method)
    np.testing.assert_allclose(out[1::3, 1::3], X, atol=2e-6)


def kernel(method: str, x: float) -> float:
    x = abs(x)
    if method.startswith("lanczos"):
        a = float(method[-1])
        return 0.0 if x >= a else float(np.sinc(x) * np.sinc(x / a))
    a = -0.5
    if x < 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * (x**3 - 5 * x**2 + 8 * x - 4) if x < 2 else 0.0


@pytest.mark.parametrize("method", ["cubic", "cubic-pytorch", "lanczos3", "lanczos5"])
@pytest.mark.parametrize("m", [3, 14])
def test_kernels_are_those_of_their_definitions(method: str, m: int):
    wide = max(7 / m, 1)
    weights = np.array([[kernel(method, (c - i) / wide) for c in centers(7, m)] for i in range(7)])
    wanted = weights / weights.sum(0)
    np.testing.assert_allclose(image.resize(np.eye(7, dtype=np.float32), (7, m), method), wanted,
                               atol=3e-6)  # fmt: skip


@pytest.mark.parametrize("m", [3, 14])
def test_cubic_convolution_of_pytorch_repeats_the_border(m: int):
    weights = np.zeros((7, m))
    for j, c in enumerate(centers(7, m)):
        for i in range(-3, 10):
            x = abs(c - i)
            near, far = (1.25 * x - 2.25) * x * x + 1, -0.75 * (((x - 5) * x + 8) * x - 4)
            weights[min(max(i, 0), 6), j] += near if x < 1 else far if x < 2 else 0
    for method in ("cubic-pytorch", "bicubic-pytorch"):
        result = image.resize(np.eye(7, dtype=np.float32), (7, m), method, antialias=False)
        np.testing.assert_allclose(result, weights, atol=3e-6)


def test_frequencies_that_would_alias_are_taken_away():
    x = np.cos(pi * np.arange(64)).astype(np.float32)
    assert np.abs(image.resize(x, (16,), "lanczos3")[4:-4]).max() < 0.02
    assert np.abs(image.resize(x, (21,), "lanczos3", antialias=False)).max() > 0.5


def test_images_move_by_whole_elements():
    result = image.scale_and_translate(X, (4, 5, 3), (0, -2), np.ones(2), np.array([1.0, -2.0]),
                                      "cubic")  # fmt: skip
    wanted = np.zeros_like(X)
    wanted[1:, :3] = X[:-1, 2:]
    np.testing.assert_allclose(result, wanted, atol=1e-6)
    same = image.scale_and_translate(X, (8, 5, 3), [0], np.array([2.0]), np.zeros(1), "linear")
    np.testing.assert_allclose(same, image.resize(X, (8, 5, 3), "linear"), atol=1e-6)


def test_derivatives_in_the_image_and_where_it_goes():
    with enable_x64():
        x = X.astype(np.float64)
        f = lambda x, s, t: image.scale_and_translate(x, (5, 5, 3), (0, 1), s, t, "cubic")  # noqa: E731
        check_grads(f, (x, np.array([1.3, 0.9]), np.array([0.17, -0.31])), 1, rtol=1e-4)
    total = grad(lambda x: image.resize(x, (7, 2, 3), "lanczos3").sum())(X)
    np.testing.assert_allclose(total.sum(), 7 * 2 * 3, rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.complex64])
def test_element_types_stay(dtype: Any):
    result = image.resize(X.astype(dtype), (8, 10, 3), "cubic")
    assert result.dtype == dtype
    np.testing.assert_allclose(result, image.resize(X, (8, 10, 3), "cubic"), atol=0.05)


def test_images_are_resized_in_batches():
    result = vmap(lambda x: image.resize(x, (3, 3), "linear"), in_axes=2, out_axes=2)(X)
    np.testing.assert_allclose(result, image.resize(X, (3, 3, 3), "linear"), atol=1e-6)


def test_empty_shapes():
    assert image.resize(X, (4, 0, 3), "linear").shape == (4, 0, 3)
    assert image.resize(X, (4, 0, 3), "nearest").shape == (4, 0, 3)
    assert image.resize(X[:0], (0, 9, 3), "linear").shape == (0, 9, 3)
    assert image.resize(np.float32(3), (), "linear") == 3


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: image.resize(X, (4, 5), "linear"), "shape must be one length for each of the 3"),
        (lambda: image.resize(X, (4, 5, -1), "linear"), "shape must be one length for each"),
        (lambda: image.resize(X, (4, 5, 6), "linaer"), "there is no method 'linaer' of resizing"),
        (lambda: image.resize(X[:0], (4, 5, 3), "area"), r"of shape \(0, 5, 3\) has no elements"),
        (lambda: image.scale_and_translate(X, (4, 5, 3), (0,), dnp.ones(1), dnp.ones(1),
                                           "nearest"), "does not take the method 'nearest'"),
        (lambda: image.scale_and_translate(X, (4, 6, 3), (0,), dnp.ones(1), dnp.ones(1), "cubic"),
         "must be that of the image"),
        (lambda: image.scale_and_translate(X, (4, 5, 3), (0, 0), dnp.ones(2), dnp.ones(2),
                                           "cubic"), "are not different axes"),
        (lambda: image.scale_and_translate(X, (4, 5, 3), (0,), dnp.ones(2), dnp.ones(1), "cubic"),
         "scale must be one number for each of the 1 spatial axes"),
    ],
)  # fmt: skip
def test_bad_arguments(call: Any, said: str):
    with pytest.raises(ValueError, match=said) as e:
        call()
    assert "test_image.py:" in str(e.value)
