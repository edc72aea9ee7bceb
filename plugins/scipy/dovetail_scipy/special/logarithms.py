"""Logarithms near 1: ``log(1 + x)`` and what is left of it."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp

from .series import epsilon, horner


def _near(x: Any) -> Any:
    """``x - log1p(x)`` for -0.45 < x < 0.8, and 0 elsewhere.

    With s = x/(2 + x), log1p(x) = 2 atanh(s) = x - (h - s (h + R)), where h = x²/2 and
    R = 2 s² (1/3 + s²/5 + ...), as in FreeBSD's libm.
    """
    x = dnp.where(is_near(x), x, 0.0)
    s = x / (x + 2.0)
    z = s * s
    terms = 7 if epsilon(x) > 1e-10 else 15
    rest = z * horner(z, [2 / (2 * k + 3) for k in range(terms)])
    half = 0.5 * x * x
    return half - s * (half + rest)


def is_near(x: Any) -> Any:
    """Whether the series for small ``x`` serves."""
    return dnp.logical_and(x > -0.45, x < 0.8)


def log1p(x: Any) -> Any:
    """``log(1 + x)`` of an array, without its derivatives' detours."""
    if x.dtype.kind == "c":
        return lax.log1p(x)
    return dnp.where(is_near(x), x - _near(x), lax.log(1.0 + x))


def log1pmx(x: Any) -> Any:
    """``log(1 + x) - x`` of an array."""
    return dnp.where(is_near(x), -_near(x), lax.log(1.0 + x) - x)
