"""What laws compare with: tolerances, comparisons, finite differences, dot products, loops."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from dovetail_core import ShapedArray
from dovetail_testing import (
    assert_close,
    assert_near,
    assert_same,
    assert_transposes,
    dot,
    finite_difference,
    finite_difference_with_error,
    precision,
    random_like,
    smallest_normal,
    stacked_loop,
    tolerance,
)


def test_precision_and_tolerance():
    assert precision(np.float32) == precision(np.complex64) == 2.0**-23
    assert precision(ml_dtypes.bfloat16) == 2.0**-7
    assert tolerance(np.float64, 10) == 10 * 2.0**-52
    assert tolerance(np.int32) == tolerance(np.bool_) == 0.0


def test_close_arrays():
    x = np.array([1.0, np.nan, np.inf], np.float32)
    assert_close(x, x * np.float32(1 + 1e-6))
    assert_close(x.astype(ml_dtypes.bfloat16), x.astype(ml_dtypes.bfloat16))
    assert_same(np.arange(3), np.arange(3))
    assert_close(np.complex64(1j), np.complex64(1j) * np.float32(1 + 1e-6))


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2, 3], [1, 5, 9], r"2 of 3 elements differ, first at \[1\]: 2, expected 5 \(here\)"),
        (1.0, 2.0, r"1 of 1 elements differ, first at \[\]: 1.0, expected 2.0 \(here\)"),
        ([1.0, np.nan], [1.0, 2.0], r"first at \[1\]: nan, expected 2.0"),
        ([1.0, np.inf], [1.0, -np.inf], r"first at \[1\]: inf, expected -inf"),
        ([[1.0]], [1.0], r"shape \(1, 1\), expected \(1,\) \(here\)"),
        ([1], [1.0], r"dtype int64, expected float64 \(here\)"),
        ([True, False], [True, True], r"first at \[1\]: False, expected True"),
    ],
)
def test_differences_are_named(x, y, message):
    with pytest.raises(AssertionError, match=message):
        assert_close(np.array(x), np.array(y), "here")


def test_a_large_element_does_not_excuse_a_small_one():
    """The tolerance is relative to each element, unless the caller says what cancelled."""
    expected = np.array([1e-6, 1.0, 1e6], np.float32)
    wrong = np.array([2e-6, 1.0, 1e6], np.float32)
    with pytest.raises(AssertionError, match=r"1 of 3 elements differ, first at \[0\]"):
        assert_near(wrong, expected, 1e-3)
    with pytest.raises(AssertionError, match=r"1 of 3 elements differ, first at \[0\]"):
        assert_close(wrong, expected)
    with pytest.raises(AssertionError, match=r"first at \[0\]: 1e-09, expected 0.0"):
        assert_near([1e-9, 1.0], [0.0, 1.0], 1e-3)
    assert_near(wrong, expected, 1e-3, atol=1e-6)
    assert_near(wrong, expected, 0.0, atol=np.array([1.1e-6, 0.0, 0.0]))
    assert_close(wrong, expected, scale=1.0)
    with pytest.raises(AssertionError, match=r"first at \[0\]"):
        assert_close(wrong, expected, scale=np.array([0.0, 1.0, 1.0]))


def test_precision_is_absolute_below_the_smallest_normal_number():
    least = smallest_normal(np.float32)
    assert least == 2.0**-126 and smallest_normal(np.int32) == 0.0
    assert_near(np.float32(0.0), np.float32(least / 2048), 1e-3)
    with pytest.raises(AssertionError, match="1 of 1 elements differ"):
        assert_near(np.float32(0.0), np.float32(least / 512), 1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_error_of_finite_differences_covers_what_rounding_adds(dtype):
    """The derivative of a large constant and a little is lost in the rounding of the constant."""
    x, t = dtype(0.5), dtype(1.0)
    (exact,) = finite_difference_with_error(lambda x: [x * x], [x], [t])
    assert abs(exact[0] - 1) <= exact[1] < 100 * precision(dtype) ** 0.8
    ((result, error),) = finite_difference_with_error(lambda x: [x + dtype(1e4)], [x], [t])
    assert abs(result - 1) <= error and error > 1e3 * exact[1]
    ((_, told),) = finite_difference_with_error(lambda x: [x * x], [x], [t], scale=1e4)
    assert told == pytest.approx(error, rel=1e-3)


def test_nearness_ignores_dtypes():
    assert_near(np.float32([1.0]), np.float64([1.0001]), 1e-3)
    with pytest.raises(AssertionError, match="first at"):
        assert_near(np.float32([1.0]), np.float64([1.1]), 1e-3)


@pytest.mark.parametrize(
    "dtype", [np.float32, np.complex64, np.int32, np.bool_, ml_dtypes.bfloat16]
)
def test_random_arrays_are_the_same_each_time(dtype):
    aval = ShapedArray((2, 3), dtype)
    x = random_like(aval, 1)
    assert x.shape == (2, 3) and x.dtype == dtype
    assert_same(x, random_like(aval, 1))
    assert np.any(x != random_like(aval, 2)) or dtype is np.bool_
    assert random_like(ShapedArray((), dtype)).shape == ()


@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-10), (np.float32, 1e-3)])
def test_finite_differences_agree_with_derivatives(dtype, tol):
    x, y = dtype(0.7), np.array([0.3, -1.2], dtype)
    tx, ty = dtype(0.5), np.array([-1.0, 2.0], dtype)
    (result,) = finite_difference(lambda x, y: [np.sin(x) * y * y], [x, y], [tx, ty])
    want = np.cos(x) * tx * y * y + 2 * np.sin(x) * y * ty
    np.testing.assert_allclose(result, want, atol=tol, rtol=tol)


def test_finite_differences_in_complex_directions_and_of_constants():
    z, t = np.complex128(0.5 + 1j), np.complex128(1j)
    (result,) = finite_difference(lambda z: [z * z], [z], [t])
    np.testing.assert_allclose(result, 2 * z * t, rtol=1e-10)
    (zero,) = finite_difference(lambda x, n: [x * n], [1.0, 3], [None, None], step=0.1)
    assert zero == 0


def test_the_dot_product_test():
    rng = np.random.default_rng(0)
    matrix, x, ct = rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=3)
    good = lambda ct: [matrix.T @ ct]  # noqa: E731
    assert_transposes(lambda x: [matrix @ x], good, [x], [ct], 1e-12)
    with pytest.raises(AssertionError, match=r"<ct, f x> = .*, <fT ct, x> = "):
        assert_transposes(lambda x: [matrix @ x], lambda ct: [2 * matrix.T @ ct], [x], [ct], 1e-12)
    assert dot([1.0, None, 1j], [2.0, 5.0, 1j]) == 1.0  # bilinear: nothing is conjugated


def test_stacked_loops():
    x, y = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    a, b = stacked_loop(lambda x, y, z: [x + y, x * z], [x, y, 2.0], [1, 0, None], 3)
    np.testing.assert_array_equal(a, (x + y).T)
    np.testing.assert_array_equal(b, 2 * x.T)
