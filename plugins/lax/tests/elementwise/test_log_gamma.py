"""``lgamma`` beside mpmath: relative to the result for positive numbers, its zeros included."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

import dovetail
import dovetail.lax as lax
import dovetail.numpy as dnp

NEAR = np.logspace(-15, -0.4, 30)
POSITIVE = np.concatenate(
    [1 + NEAR, 1 - NEAR, 2 + NEAR, 2 - NEAR, np.linspace(0.01, 12, 200), np.logspace(-30, 30, 60)]
)
NEGATIVE = -np.linspace(0.03, 19.95, 150)


def exact(x: float) -> float:
    with mpmath.workprec(200):
        at = mpmath.mpf(x)
        value = mpmath.loggamma(at) if x > 0 else mpmath.log(abs(mpmath.gamma(at)))
        return float(mpmath.re(value))


def values(f: Any, x: Any, dtype: str) -> tuple[Any, Any]:
    with dovetail.enable_x64(dtype == "float64"):
        x = np.asarray(dnp.asarray(x, dtype))
        result = np.asarray(f(x), np.float64)
    return result, np.array([exact(float(v)) for v in x])


@pytest.mark.parametrize("f", [lax.lgamma, dovetail.jit(lax.lgamma)], ids=["eager", "jit"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_few_roundings_of_the_result(dtype: str, f: Any) -> None:
    """The sum of two terms, each of at most 2.5 times the result, of 1 to 2 roundings."""
    result, want = values(f, POSITIVE, dtype)
    np.testing.assert_allclose(result, want, rtol=4 * float(dnp.finfo(dtype).eps))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_negative_numbers_to_roundings_of_one(dtype: str) -> None:
    result, want = values(lax.lgamma, NEGATIVE, dtype)
    precision = float(dnp.finfo(dtype).eps)
    assert np.all(np.abs(result - want) <= 4 * precision * (1 + np.abs(want)))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_types_are_rounded_once(dtype: str) -> None:
    result, want = values(lax.lgamma, [1.0, 1.01, 2.0, 2.5, -1.5, 100.0, 0.01], dtype)
    np.testing.assert_allclose(result, want, rtol=0.51 * float(dnp.finfo(dtype).eps))


def test_ends_and_poles() -> None:
    x = np.array([0.0, -0.0, -1.0, -2.0, -1e30, np.inf, -np.inf], np.float32)
    np.testing.assert_array_equal(lax.lgamma(x), np.full(7, np.inf, np.float32))
    assert np.isnan(lax.lgamma(np.float32(np.nan)))
    assert lax.lgamma(np.zeros((0, 3), np.float32)).shape == (0, 3)
    assert lax.lgamma(2.5).weak_type
    np.testing.assert_array_equal(lax.lgamma(np.array([1.0, 2.0], np.float32)), [0.0, 0.0])
