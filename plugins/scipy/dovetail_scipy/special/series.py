"""Polynomials and series of Chebyshev polynomials, as short as the element type allows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

import dovetail_lax as lax


def epsilon(x: Any) -> float:
    """The distance from 1 to the next number of the type of ``x``."""
    return float(np.finfo(x.dtype).eps)


def horner(x: Any, coefficients: Sequence[float]) -> Any:
    """The polynomial in ``x`` with these coefficients, that of the constant term first."""
    out: Any = lax.full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        out = lax.add(lax.mul(out, x), float(c))
    return out


def chebyshev(t: Any, coefficients: tuple[float, ...]) -> Any:
    """The sum of ``c[k] T_k(t)``, for ``t`` in [-1, 1], without terms below the precision of ``t``.

    It is evaluated as a polynomial in ``t``, which is as accurate for coefficients that fall
    quickly, and takes half of the operations.
    """
    return horner(t, _monomials(coefficients, epsilon(t)))


@lru_cache(maxsize=None)
def _monomials(coefficients: tuple[float, ...], eps: float) -> tuple[float, ...]:
    smallest = 0.05 * eps * max(abs(c) for c in coefficients)
    n = max(k for k, c in enumerate(coefficients) if abs(c) > smallest) + 1
    return tuple(np.polynomial.chebyshev.cheb2poly(coefficients[:n]).tolist())


def onto(x: Any, low: float, high: float) -> Any:
    """The interval from ``low`` to ``high`` mapped to [-1, 1], and what is outside to its ends."""
    middle, half = (low + high) / 2, (high - low) / 2
    return lax.mul(lax.sub(lax.clamp(low, x, high), middle), 1 / half)
