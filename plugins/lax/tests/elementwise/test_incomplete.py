"""Incomplete functions where logarithms of gamma functions cancel or a square is rounded.

Expected values are mpmath's, of 40 digits.
"""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad
from dovetail_core import enable_x64
from dovetail_jit import jit

GAMMA = [(2056.9, 2020.7), (1779.2, 1745.1), (1466.9, 1545.1), (1765.8, 1600.7), (3.0, 2.5),
         (1.0, 2.0), (21.0, 21.0), (0.3, 0.01), (306.0, 185.0), (900.0, 2.5e3)]  # fmt: skip
BETA = [(1765.8, 0.0012436, 0.999999), (1966.8, 0.0037918, 0.9999), (0.0016578, 2861.8, 2.979e-05),
        (38.0, 37.0, 0.2978), (900.0, 1100.0, 0.46), (2.0, 3.0, 0.4), (8.5, 0.5, 0.99)]  # fmt: skip


def _columns(points: list[tuple[float, ...]]) -> Any:
    return [np.asarray(c) for c in zip(*points)]


def _wanted(f: Any, points: list[tuple[float, ...]]) -> Any:
    with mpmath.workdps(40):
        return [float(f(*map(mpmath.mpf, p))) for p in points]


def _gamma_density(a: Any, x: Any) -> Any:
    return mpmath.exp((a - 1) * mpmath.log(x) - x - mpmath.loggamma(a))


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    return x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b)


@pytest.mark.parametrize("upper", [False, True], ids=["igamma", "igammac"])
def test_gamma(upper: bool) -> None:
    f, sign = (lax.igammac, -1) if upper else (lax.igamma, 1)

    def exact(a: Any, x: Any) -> Any:
        return mpmath.gammainc(a, x if upper else 0, mpmath.inf if upper else x, regularized=True)

    with enable_x64(True):
        a, x = _columns(GAMMA)
        np.testing.assert_allclose(jit(f)(a, x), _wanted(exact, GAMMA), rtol=6e-14)
        slope = jit(grad(lambda x: f(a, x).sum()))(x)
        want = sign * np.asarray(_wanted(_gamma_density, GAMMA))
        np.testing.assert_allclose(slope, want, rtol=6e-14)


def test_beta() -> None:
    with enable_x64(True):
        a, b, x = _columns(BETA)
        want = _wanted(lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True), BETA)
        np.testing.assert_allclose(jit(lax.betainc)(a, b, x), want, rtol=1e-12)
        slope = jit(grad(lambda x: lax.betainc(a, b, x).sum()))(x)
        np.testing.assert_allclose(slope, _wanted(_beta_density, BETA), rtol=6e-14)


def test_derivatives_at_ends() -> None:
    at_zero = [float(grad(lax.igamma, 1)(np.float32(a), np.float32(0))) for a in (0.5, 1, 2)]
    assert at_zero == [np.inf, 1, 0]
    ends = [float(grad(lax.betainc, 2)(*map(np.float32, p))) for p in ((1, 3, 0), (3, 2, 1))]
    assert ends == [3, 0]


def test_tail_of_erfc() -> None:
    x = np.linspace(-3, 26.4, 400)
    with enable_x64(True):
        result = np.asarray(jit(lax.erfc)(x))
        ends = np.asarray(jit(lax.erfc)(np.asarray([np.inf, -np.inf, 1e200, np.nan, 0.0])))
    np.testing.assert_array_max_ulp(result, np.asarray([float(mpmath.erfc(v)) for v in x]), 8)
    np.testing.assert_array_equal(ends, [0, 2, 0, np.nan, 1])
