"""What rounding loses: exact parts of numbers and of sums."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp

from .series import is_single


def halved(x: Any) -> tuple[Any, Any]:
    """``x`` as a sum of two numbers, the first with half of the digits: its square is exact.

    The operation is rounding to fewer digits; the compiler would simplify sums that do the same.
    """
    bits = (8, 11) if is_single(x) else (11, 25)
    high = lax.reduce_precision(x, *bits)
    return high, x - high


def lost_in_sum(x: Any, y: Any, total: Any) -> Any:
    """What ``total = x + y`` lacks of the exact sum."""
    larger = lax.abs(x) > lax.abs(y)
    high, low = dnp.where(larger, x, y), dnp.where(larger, y, x)
    return low - (total - high)


def residual(x: Any, y: Any, quotient: Any) -> Any:
    """``x - quotient * y``, exactly but for the last roundings, for a rounded ``x / y``."""
    (qh, ql), (yh, yl) = halved(quotient), halved(y)
    return (((x - qh * yh) - qh * yl) - ql * yh) - ql * yl


def cross(a: Any, y: Any, b: Any, x: Any) -> Any:
    """``a * y - b * x``, where products that cancel are not rounded."""
    (ah, al), (yh, yl), (bh, bl), (xh, xl) = halved(a), halved(y), halved(b), halved(x)
    mixed = (ah * yl - bh * xl) + (al * yh - bl * xh)
    return (ah * yh - bh * xh) + (mixed + (al * yl - bl * xl))
