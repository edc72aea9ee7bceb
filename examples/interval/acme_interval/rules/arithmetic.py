"""Rules of products, quotients, powers and magnitudes."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax

from ..bounds import Bounds
from .kinds import (
    Args,
    Params,
    anything_where,
    constant,
    dtype_of,
    ends,
    has_zero,
    magnitudes,
    rule,
    span,
    where,
)


@rule(lax.mul_p)
def _mul(carrier: Any, args: Args, params: Params) -> Bounds:
    x, y = args
    if x is y:
        low, high = magnitudes(x)
        return lax.mul_p.bind(low, low, **params), lax.mul_p.bind(high, high, **params)
    return span([lax.mul_p.bind(a, b, **params) for a in ends(x) for b in ends(y)])


@rule(lax.div_p)
def _div(carrier: Any, args: Args, params: Params) -> Bounds:
    x, y = args
    found = span([lax.div_p.bind(a, b) for a in ends(x) for b in ends(y)])
    # The divisor may be zero of either sign, or as near as one likes.
    return found if y[0] is y[1] else anything_where(has_zero(y), found)


@rule(lax.rem_p)
def _rem(carrier: Any, args: Args, params: Params) -> Bounds:
    # The remainder has the sign of x and is at most as large as x; smaller than y, but for
    # integers that are divided by zero.
    (low, high), y = args
    zero, most = constant(0, low), magnitudes(y)[1]
    least, greatest = lax.min_p.bind(low, zero), lax.max_p.bind(high, zero)
    if dtype_of(low).kind in "iu":
        return least, greatest
    return lax.max_p.bind(least, lax.neg_p.bind(most)), lax.min_p.bind(greatest, most)


@rule(lax.abs_p)
def _abs(carrier: Any, args: Args, params: Params) -> Bounds:
    return magnitudes(args[0])


@rule(lax.square_p)
def _square(carrier: Any, args: Args, params: Params) -> Bounds:
    low, high = magnitudes(args[0])
    return lax.square_p.bind(low), lax.square_p.bind(high)


@rule(lax.rsqrt_p)
def _rsqrt(carrier: Any, args: Args, params: Params) -> Bounds:
    low, high = args[0]
    # One over a zero with a minus sign is minus infinity.
    touches = lax.eq_p.bind(low, constant(0, low))
    least = where(touches, constant(-np.inf, low), lax.rsqrt_p.bind(high))
    return least, lax.rsqrt_p.bind(low)


@rule(lax.integer_pow_p)
def _integer_pow(carrier: Any, args: Args, params: Params) -> Bounds:
    x, y = args[0], params["y"]
    if y % 2 == 0:  # depends on the magnitude alone, falling if y is negative
        x = magnitudes(x)
    low, high = (lax.integer_pow_p.bind(end, y=y) for end in x)
    if y >= 0:
        return low, high
    return (high, low) if y % 2 == 0 else anything_where(has_zero(x), (high, low))


@rule(lax.pow_p)
def _pow(carrier: Any, args: Args, params: Params) -> Bounds:
    x, y = args
    if y[0] is y[1]:
        return _known_power(x, y[0])
    # For x >= 0 it is monotone in each operand, so that the extremes are at corners. Of a negative
    # x there are powers of both signs, as large as those of its magnitude.
    size = magnitudes(x)
    low, high = span([lax.pow_p.bind(a, b) for a in ends(size) for b in ends(y)])
    negative = lax.lt_p.bind(x[0], constant(0, x[0]))
    return where(negative, lax.neg_p.bind(high), low), high


def _known_power(x: Bounds, y: Any) -> Bounds:
    """Bounds of ``x ** y``, which has its extremes at the bounds, at zero, or at a pole there."""
    zero = constant(0, x[0])
    nearest = lax.clamp_p.bind(x[0], zero, x[1])
    found = span([lax.pow_p.bind(a, y) for a in (*x, nearest)])
    falls = lax.lt_p.bind(y, constant(0, y))
    return anything_where(lax.and_p.bind(falls, has_zero(x)), found)
