"""The zeta function of Hurwitz and the digamma function, on which others are based."""

from __future__ import annotations

from math import factorial, pi
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..coefficients import DIGAMMA, DIGAMMA_TAIL, PSI_ZERO
from ..evaluation import differentiable
from ..series import between, chebyshev, is_single

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
BERNOULLI += (43867 / 798, -174611 / 330, 854513 / 138, -236364091 / 2730)
TWO = 2.0


def euler_maclaurin(s: Any, q: Any) -> Any:
    """ζ(s, q) for q > 0 by the formula of Euler and Maclaurin, DLMF 25.11.5.

    Its terms are smooth in both arguments, so that all derivatives follow by composition.
    """
    head, tail = (5, 5) if is_single(s) else (10, 11)
    # Far out the remainder needs no head, whose arguments would be rounded.
    short = dnp.logical_and(q >= head, q > 2.0 * s)
    total = lax.full_like(q, 0.0)
    for k in range(head):
        total = total + dnp.where(short, 0.0, lax.pow(q + float(k), -s))
    end = q + dnp.where(short, 0.0, float(head))
    # Not end * end^-s for the first term, of which the power underflows where the term does not.
    inverse, lower = 1.0 / end, lax.pow(end, 1.0 - s)
    term, rest = s * inverse, lax.full_like(s, 0.5)
    for k in range(tail):
        rest = rest + term * (BERNOULLI[k] / factorial(2 * k + 2))
        term = term * (s + (2.0 * k + 1.0)) * (s + (2.0 * k + 2.0)) * (inverse * inverse)
    return total + (lower / (s - 1.0) + lower * inverse * rest)


def hurwitz(s: Any, q: Any) -> Any:
    """ζ(s, q) for s > 1: NaN for s < 1, and for negative q unless s is an integer.

    With r = q - round(q), the sum of (k + q)^-s over all integers k is that of (k + r)^-s:
    for q < 0, ζ(s, q) = r^-s + ζ(s, 1 + r) + (-1)^s (ζ(s, 1 - r) - ζ(s, 1 - q)).
    """
    regular = dnp.logical_and(s > 1, s < np.inf)
    x, mirrored = dnp.where(regular, s, TWO), q < 0
    r = dnp.where(mirrored, q - lax.round(q), 0.0)
    positive = dnp.where(q > 0, q, 1.0)
    value = euler_maclaurin(x, dnp.where(mirrored, 1.0 + r, positive))
    even = x - 2.0 * lax.floor(x * 0.5) == 0
    centre = dnp.where(r == 0, 1.0, lax.pow(lax.abs(dnp.where(r == 0, 1.0, r)), -x))
    sign = dnp.where(even, 1.0, -1.0)
    low = euler_maclaurin(x, 1.0 - r) - euler_maclaurin(x, dnp.where(mirrored, 1.0 - q, 1.0))
    reflected = dnp.where(r < 0, sign * centre, centre) + value + sign * low
    reflected = dnp.where(lax.floor(x) == x, reflected, np.nan)
    value = dnp.where(mirrored, reflected, value)
    at_infinity = dnp.where(q == 1, 1.0, dnp.where(q > 1, 0.0, np.inf))
    value = dnp.where(regular, value, dnp.where(s == np.inf, at_infinity, np.nan))
    pole = dnp.logical_and(q <= 0, lax.floor(q) == q)
    value = dnp.where(dnp.logical_or(s == 1, dnp.logical_and(pole, s > 1)), np.inf, value)
    value = dnp.where(dnp.logical_and(q == np.inf, s > 1), 0.0, value)
    return dnp.where(dnp.logical_or(s != s, q != q), np.nan, value)


def _trigamma(out: Any, x: Any) -> Any:
    return hurwitz(lax.full_like(x, 2.0), x)


@differentiable(_trigamma)
def digamma_kernel(x: Any) -> Any:
    """ψ(x): from [1, 2] by recurrence, (x - x0) times a series with the zero x0 in two parts.

    Beyond 8 its asymptotic series, DLMF 5.11.2; for negative x the reflection, DLMF 5.5.4.
    """
    mirrored = x < 0
    z = lax.abs(x)
    base = lax.clamp(0.0, z, 8.0)
    shift = lax.full_like(x, 0.0)
    for _ in range(6):
        above = base > 2.0
        base = dnp.where(above, base - 1.0, base)
        shift = shift + dnp.where(above, 1.0 / base, 0.0)
    small = base < 1.0
    reciprocal = dnp.where(z == 0, np.inf, 1.0 / dnp.where(z == 0, 1.0, z))
    base, shift = base + dnp.where(small, 1.0, 0.0), shift - dnp.where(small, reciprocal, 0.0)
    ratio = chebyshev(between(base, 1.0, 2.0), DIGAMMA)
    high = np.float32(PSI_ZERO[0]) if is_single(x) else PSI_ZERO[0]
    low = PSI_ZERO[0] - float(high) + PSI_ZERO[1]
    near = (ratio * (base - float(high)) - ratio * low) + shift
    large = lax.max(z, lax.full_like(z, 8.0))
    inverse = 1.0 / large
    square = inverse * inverse
    far = (
        lax.log(large)
        - 0.5 * inverse
        - square * chebyshev(between(square, 0.0, 1 / 64), DIGAMMA_TAIL)
    )
    value = dnp.where(z > 8.0, far, near)
    turn = (x - lax.round(x)) * pi
    value = dnp.where(mirrored, value + reciprocal - pi / lax.tan(turn), value)
    pole = dnp.logical_and(x <= 0, lax.floor(x) == x)
    value = dnp.where(pole, dnp.where(x == 0, dnp.copysign(np.inf, -x), np.nan), value)
    return dnp.where(x != x, x, value)
