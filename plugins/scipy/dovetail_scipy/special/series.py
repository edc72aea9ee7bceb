"""Numerical tools: series as short as the element type allows, rounding errors, log(1 + x)."""

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
    """True if ``x`` has single precision."""
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
    shortened, powers = _shortened(coefficients, epsilon(t))
    if powers is not None:
        return horner(t, powers)
    first: Any = lax.full_like(t, 0.0)
    twice, second = lax.mul(t, 2.0), first
    for c in reversed(shortened[1:]):
        first, second = lax.add(lax.sub(lax.mul(twice, first), second), c), first
    return lax.add(lax.sub(lax.mul(t, first), second), shortened[0])


@cached
def _shortened(
    coefficients: tuple[float, ...], eps: float
) -> tuple[tuple[float, ...], tuple[float, ...] | None]:
    """The coefficients that are not negligible, and those of the powers of ``t`` if no larger."""
    top = max(abs(c) for c in coefficients)
    n = max(k for k, c in enumerate(coefficients) if abs(c) > 0.05 * eps * top) + 1
    shortened = coefficients[:n]
    powers = np.polynomial.chebyshev.cheb2poly(shortened)
    return shortened, tuple(powers.tolist()) if np.abs(powers).max() < 2 * top else None


def _clipped(x: Any, low: float, high: float) -> Any:
    """``x`` within bounds; on them it has the derivative 1, unlike ``clamp``."""
    return dnp.where(x < low, low, dnp.where(x > high, high, x))


def between(x: Any, low: float, high: float) -> Any:
    """The interval from ``low`` to ``high`` mapped to [-1, 1], numbers outside to its ends."""
    middle, half = (low + high) / 2, (high - low) / 2
    return lax.mul(lax.sub(_clipped(x, low, high), middle), 1 / half)


def beyond(x: Any, start: float, scale: float) -> Any:
    """The ray from ``start`` mapped to [-1, 1], where ``start + scale`` becomes 0."""
    ends = _clipped(x, start, float(np.finfo(x.dtype).max) / 4)
    return lax.div(lax.sub(ends, start + scale), lax.add(ends, scale - start))


def halved(x: Any) -> tuple[Any, Any]:
    """``x`` as a sum of two numbers, the first with half of the digits: its square is exact.

    The operation is rounding to fewer digits; the compiler would simplify sums that do the same.
    """
    bits = (8, 11) if is_single(x) else (11, 25)
    high = lax.reduce_precision(x, *bits)
    return high, x - high


def lost_in_sum(x: Any, y: Any, total: Any) -> Any:
    """The exact sum of ``x`` and ``y`` less the rounded one, ``total``."""
    larger = lax.abs(x) > lax.abs(y)
    high, low = dnp.where(larger, x, y), dnp.where(larger, y, x)
    return low - (total - high)


def residual(x: Any, y: Any, quotient: Any) -> Any:
    """``x - quotient * y`` for a rounded ``x / y``, exact up to the last roundings."""
    (qh, ql), (yh, yl) = halved(quotient), halved(y)
    return (((x - qh * yh) - qh * yl) - ql * yh) - ql * yl


def cross(a: Any, y: Any, b: Any, x: Any) -> Any:
    """``a * y - b * x``, where products that cancel are not rounded."""
    (ah, al), (yh, yl), (bh, bl), (xh, xl) = halved(a), halved(y), halved(b), halved(x)
    mixed = (ah * yl - bh * xl) + (al * yh - bl * xh)
    return (ah * yh - bh * xh) + (mixed + (al * yl - bl * xl))


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
    """A mask where the series for small ``x`` is used."""
    return dnp.logical_and(x > -0.45, x < 0.8)


def log1p(x: Any) -> Any:
    """``log(1 + x)`` of an array, by operations whose derivatives are simple."""
    if x.dtype.kind == "c":
        return lax.log1p(x)
    return dnp.where(is_near(x), x - _near(x), lax.log(1.0 + x))


def log1pmx(x: Any) -> Any:
    """``log(1 + x) - x`` of an array."""
    return dnp.where(is_near(x), -_near(x), lax.log(1.0 + x) - x)
