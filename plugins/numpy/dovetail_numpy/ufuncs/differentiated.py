"""Functions with derivative rules of their own.

They are imported when one is first called: custom rules take longer to import than all other
functions.
"""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
from dovetail_custom_rules import custom_jvp
from dovetail_lax import dtypes

from ..operations import number, select


@custom_jvp
def hypot(x: Any, y: Any) -> Any:
    """``sqrt(x² + y²)`` of real numbers; its derivative at the origin is 0."""
    # Scaled by the larger one, so that the squares neither overflow nor vanish.
    x, y = lax.abs(x), lax.abs(y)
    big, small = lax.max(x, y), lax.min(x, y)
    infinite = lax.eq(big, number(big, float("inf")))
    safe = select(lax.eq(big, number(big, 0)), number(big, 1), big)
    ratio = lax.div(small, safe)
    length = lax.mul(big, lax.sqrt(lax.add(number(big, 1), lax.mul(ratio, ratio))))
    # An infinity outweighs a NaN, and max is NaN if either is.
    either = lax.bitwise_or(lax.eq(x, number(x, float("inf"))), lax.eq(y, number(y, float("inf"))))
    return select(lax.bitwise_or(infinite, either), number(big, float("inf")), length)


@hypot.defjvp
def _(primals: Any, tangents: Any) -> tuple[Any, Any]:
    (x, y), (dx, dy) = primals, tangents
    return hypot(x, y), lax.add(lax.mul(dx, share(x, y)), lax.mul(dy, share(y, x)))


@custom_jvp
def share(x: Any, y: Any) -> Any:
    """``x / hypot(x, y)``, and 0 where both are 0."""
    length = hypot(x, y)
    return lax.div(x, select(lax.eq(length, number(length, 0)), number(length, 1), length))


@share.defjvp
def _(primals: Any, tangents: Any) -> tuple[Any, Any]:
    # dx y²/h³ - dy x y/h³, with 1/h last: every product before it is no larger than 1.
    (x, y), (dx, dy) = primals, tangents
    length, across = hypot(x, y), share(y, x)
    inverse = lax.div(across, select(lax.eq(length, number(length, 0)), number(length, 1), length))
    out = share(x, y)
    along = lax.sub(lax.mul(dx, lax.mul(across, inverse)), lax.mul(dy, lax.mul(out, inverse)))
    return out, along


@custom_jvp
def i0(x: Any) -> Any:
    """The modified Bessel function of the first kind and order 0."""
    return lax.mul(lax.exp(lax.abs(x)), lax.bessel_i0e(x))


@i0.defjvp
def _(primals: Any, tangents: Any) -> tuple[Any, Any]:
    # I0' is I1. Of the product the terms would cancel near 0.
    (x,), (dx,) = primals, tangents
    return i0(x), lax.mul(dx, i1(x))


@custom_jvp
def i1(x: Any) -> Any:
    """The modified Bessel function of the first kind and order 1."""
    return lax.mul(lax.exp(lax.abs(x)), lax.bessel_i1e(x))


@i1.defjvp
def _(primals: Any, tangents: Any) -> tuple[Any, Any]:
    # I1' is I0 - I1/x, 1/2 at 0.
    (x,), (dx,) = primals, tangents
    out = i1(x)  # zero where it would be subnormal
    zero = lax.lt(lax.abs(x), number(x, 4 * float(dtypes.finfo(x.dtype).tiny)))
    quotient = lax.div(out, select(zero, number(x, 1), x))
    slope = lax.sub(i0(x), select(zero, number(x, 0.5), quotient))
    return out, lax.mul(dx, slope)
