"""Zeta and polygamma functions of negative numbers, against mpmath."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad, jacfwd
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit

POINTS = [-0.3, -2.25, -8.75, -9.25, -16.5, -33.125, -250.75, 0.25, 3.5, 40.0]


def _zeta(s: int, q: float) -> Any:
    """ζ(s, q), by steps of 1 from negative numbers."""
    below = max(0, int(mp.ceil(-q)))
    with mp.workdps(40):
        terms = [(mp.mpf(q) + k) ** -s for k in range(below)]
        return mp.fsum(terms) + mp.zeta(s, mp.mpf(q) + below)


def _near(result: Any, wanted: list[Any], roundings: float) -> None:
    result = np.asarray(result)
    exact = np.array([float(w) for w in wanted])
    np.testing.assert_allclose(result, exact, rtol=roundings * np.finfo(result.dtype).eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", [2, 3, 4, 7])
def test_values_on_the_whole_line(dtype: Any, order: int) -> None:
    with enable_x64(True):
        q = np.array(POINTS, dtype)
        wanted = [_zeta(order, float(x)) for x in q]
        zeta = lambda q: lax.zeta(dtype(order), q)  # noqa: E731
        for f in (zeta, jit(zeta), vmap(zeta)):
            _near(f(q), wanted, 8)
        factor = (-1) ** order * mp.factorial(order - 1)
        polygamma = lax.polygamma(dtype(order - 1), q)
        _near(polygamma, [factor * w for w in wanted], 64)


def test_derivatives_at_negative_numbers() -> None:
    with enable_x64(True):
        q = -16.3
        for f in (grad, jacfwd):
            slope = f(lambda x: lax.zeta(2.0, x))
            _near([slope(q), f(slope)(q)], [-2 * _zeta(3, q), 6 * _zeta(4, q)], 64)
            _near(f(lambda x: lax.polygamma(1.0, x))(q), -2 * np.array([_zeta(3, q)]), 64)


def test_what_has_no_value() -> None:
    nan, inf = float("nan"), float("inf")
    s = np.array([2.5, 1.0, 0.5, 2.0, 3.0, 2.0, 2.0, 1.0])
    q = np.array([-3.5, -3.5, -3.5, -4.0, -4.0, nan, -inf, 3.5])
    np.testing.assert_array_equal(lax.zeta(s, q), [nan, inf, nan, inf, inf, nan, nan, inf])
    np.testing.assert_array_equal(
        lax.polygamma(np.array([0.5, 1.0, 2.0]), np.array([-3.5, -4.0, -4.0])), [nan, inf, -inf]
    )
