"""Polynomials and series of Chebyshev polynomials, as short as the element type allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import cached


def epsilon(x: Any) -> float:
    """The distance from 1 to the next number of the type of ``x``."""
    return float(np.finfo(x.dtype).eps)


def is_single(x: Any) -> bool:
    """Whether ``x`` has single precision."""
    return epsilon(x) > 1e-10


def horner(x: Any, coefficients: Sequence[float]) -> Any:
    """The polynomial in ``x`` with these coefficients, that of the constant term first."""
    out: Any = lax.full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        out = lax.add(lax.mul(out, x), float(c))
    return out


def chebyshev(t: Any, coefficients: tuple[float, ...]) -> Any:
    """The sum of ``c[k] T_k(t)``, for ``t`` in [-1, 1], without terms below the precision of ``t``.

    It is evaluated as a polynomial in ``t``, with half of the operations of Clenshaw's recurrence,
    where the coefficients fall so quickly that those of the powers are no larger.
    """
    kept, powers = _shortened(coefficients, epsilon(t))
    if powers is not None:
        return horner(t, powers)
    first: Any = lax.full_like(t, 0.0)
    twice, second = lax.mul(t, 2.0), first
    for c in reversed(kept[1:]):
        first, second = lax.add(lax.sub(lax.mul(twice, first), second), c), first
    return lax.add(lax.sub(lax.mul(t, first), second), kept[0])


@cached
def _shortened(
    coefficients: tuple[float, ...], eps: float
) -> tuple[tuple[float, ...], tuple[float, ...] | None]:
    """The coefficients that matter, and those of the powers of ``t`` if they are no larger."""
    top = max(abs(c) for c in coefficients)
    n = max(k for k, c in enumerate(coefficients) if abs(c) > 0.05 * eps * top) + 1
    kept = coefficients[:n]
    powers = np.polynomial.chebyshev.cheb2poly(kept)
    return kept, tuple(powers.tolist()) if np.abs(powers).max() < 2 * top else None


def _held(x: Any, low: float, high: float) -> Any:
    """``x`` within bounds; on them it has the derivative 1, unlike ``clamp``."""
    return dnp.where(x < low, low, dnp.where(x > high, high, x))


def between(x: Any, low: float, high: float) -> Any:
    """The interval from ``low`` to ``high`` mapped to [-1, 1], and what is outside to its ends."""
    middle, half = (low + high) / 2, (high - low) / 2
    return lax.mul(lax.sub(_held(x, low, high), middle), 1 / half)


def beyond(x: Any, start: float, scale: float) -> Any:
    """The ray from ``start`` mapped to [-1, 1], where ``start + scale`` becomes 0."""
    ends = _held(x, start, float(np.finfo(x.dtype).max) / 4)
    return lax.div(lax.sub(ends, start + scale), lax.add(ends, scale - start))
