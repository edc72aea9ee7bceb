"""The regularised incomplete beta function, by its continued fraction.

    I_x(a, b) = x^a (1-x)^b / (a B(a, b)) / (1 + K(d_n / 1)),
    d_2m = m (b - m) x / ((a + 2m - 1)(a + 2m)),
    d_2m+1 = -(a + m)(a + b + m) x / ((a + 2m)(a + 2m + 1)),

DLMF 8.17.22, which converges quickly where x < (a + 1)/(a + b + 2); elsewhere I_x(a, b) =
1 - I_1-x(b, a). Derivatives in a and b are those of this computation, by forward mode.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_jit import fused

from ..evaluation import Array, ArrayLike, by_forward_mode, differentiable, evaluate
from ..series import cross, epsilon, is_near, log1p, log1pmx, lost_in_sum
from .beta_functions import log_quotient, quotient
from .gamma_functions import small_gamma, stirling_rest

_LIMIT = 2000
_LARGE = 8.0


def _away_from_zero(x: Any) -> Any:
    return dnp.where(lax.abs(x) < 1e-30, 1e-30, x)


def _fraction(a: Any, b: Any, x: Any, least: Any) -> Any:
    """``1 + K(d_n / 1)`` inverted, by Lentz's method with at least so many steps."""
    eps = 2 * epsilon(x)

    def going(state: Any) -> Any:
        return dnp.logical_and(state[0] < _LIMIT, dnp.any(state[-1]))

    def term(numerator: Any, c: Any, d: Any) -> tuple[Any, Any]:
        return _away_from_zero(1.0 + numerator / c), 1.0 / _away_from_zero(1.0 + numerator * d)

    def step(state: Any) -> Any:
        m, c, d, h, active = state
        am = a + 2.0 * m
        c, d = term(m * (b - m) * x / ((am - 1.0) * am), c, d)
        first = c * d
        c, d = term(-(a + m) * (a + b + m) * x / (am * (am + 1.0)), c, d)
        factor = c * d
        # Elements that have converged stay: the roundings of further factors would add up.
        h = dnp.where(active, h * (first * factor), h)
        unfinished = dnp.logical_or(lax.abs(factor - 1.0) > eps, m < least)
        return m + 1.0, c, d, h, dnp.logical_and(active, unfinished)

    one = lax.full_like(x, 1.0)
    d = 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    return lax.while_loop(going, step, (x.dtype.type(1), one, d, d, one > 0))[3]


def _log_excess(u: Any, total: Any) -> Any:
    """``log(1 + u) - u`` for ``total = 1 + u``, to which ``u`` loses digits if it is near -1."""
    near = is_near(u)
    return dnp.where(near, log1pmx(dnp.where(near, u, 0.0)), lax.log(total) - u)


def power_term(a: Any, b: Any, x: Any, y: Any) -> Any:
    """``x^a y^b / B(a, b)`` for y = 1 - x, by its maximum where both parameters are large."""
    log_y = dnp.where(x < 0.5, log1p(-dnp.where(x < 0.5, x, 0.0)), lax.log(y))
    log_x = dnp.where(y < 0.5, log1p(-dnp.where(y < 0.5, y, 0.0)), lax.log(x))
    p, q = dnp.where(a < b, a, b), dnp.where(a < b, b, a)  # not min: equal ones have derivatives
    of_p, of_q = dnp.where(a < b, log_x, log_y), dnp.where(a < b, log_y, log_x)
    at_p = dnp.where(a < b, x, y)
    small, low = dnp.where(q < _LARGE, q, _LARGE), dnp.where(p < _LARGE, p, _LARGE)
    near = lax.pow(at_p, low) * lax.exp(small * of_q) / quotient(low, small)
    high = dnp.where(q < _LARGE, _LARGE, q)
    grown = lax.pow(at_p * high, low) * lax.exp(high * of_q)
    scaled = lax.exp(low * (of_p + lax.log(high)) + high * of_q)
    grown = dnp.where(at_p * high > 50.0, scaled, grown)
    middle = grown / (small_gamma(low) * lax.exp(log_quotient(low, high)))
    big = dnp.where(p < _LARGE, _LARGE, p)
    lost = lost_in_sum(lax.full_like(x, 1.0), -x, y)
    away = cross(a, y, b, x) + a * lost
    away = dnp.where(a < b, away, -away)
    total, at_q = big + high, dnp.where(a < b, y, x)
    exponent = big * _log_excess(-away / big, at_p * (total / big))
    exponent = exponent + high * _log_excess(away / high, at_q * (total / high))
    rest = stirling_rest(big) + stirling_rest(high) - stirling_rest(big + high)
    far = lax.sqrt(big * (high / (big + high)) * (0.5 / pi)) * lax.exp(exponent - rest)
    return dnp.where(q < _LARGE, near, dnp.where(p < _LARGE, middle, far))


def tails(a: Any, b: Any, x: Any, y: Any, is_derived: bool = False) -> tuple[Any, Any]:
    """I_x(a, b) and its complement, for positive finite a and b, and 0 < x < 1, y = 1 - x.

    Where a numerator is zero the fraction ends, but its derivatives do not: they take as many steps
    as for other parameters.
    """
    mirrored = x * (a + b + 2.0) >= a + 1.0
    # For b < 1 the other tail is near 1, and the fraction converges well enough.
    mirrored = dnp.logical_and(mirrored, dnp.logical_or(b >= 1.0, x > 0.9))
    p, q = dnp.where(mirrored, b, a), dnp.where(mirrored, a, b)
    least = 40.0 + 3.0 * lax.sqrt(a + b) if is_derived else 0.0
    fraction = _fraction(p, q, dnp.where(mirrored, y, x), least)
    tail = power_term(a, b, x, y) / p * fraction
    rest = 1.0 - tail
    return dnp.where(mirrored, rest, tail), dnp.where(mirrored, tail, rest)


def _parted(a: Any, b: Any, x: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Masks of valid arguments and of those inside of the domain, and the arguments, replaced by
    others where they are not inside."""
    valid = dnp.logical_and(dnp.logical_and(a >= 0, b >= 0), dnp.logical_and(x >= 0, x <= 1))
    finite = dnp.logical_and(a < np.inf, b < np.inf)
    inside = dnp.logical_and(dnp.logical_and(x > 0, x < 1), dnp.logical_and(a > 0, b > 0))
    inside = dnp.logical_and(dnp.logical_and(valid, finite), inside)
    safe = [dnp.where(inside, v, c) for v, c in ((a, 1.0), (b, 1.0), (x, 0.5))]
    return valid, inside, safe[0], safe[1], safe[2]


def _density(out: Any, a: Any, b: Any, x: Any) -> Any:
    valid, inside, sa, sb, sx = _parted(a, b, x)
    value = power_term(sa, sb, sx, 1.0 - sx) / (sx * (1.0 - sx))
    at_end = dnp.where(x < 0.5, a, b)
    other = dnp.where(x < 0.5, b, a)
    limit = dnp.where(at_end < 1, np.inf, dnp.where(at_end == 1, other, 0.0))
    return dnp.where(inside, value, dnp.where(valid, limit, np.nan))


def _raw(a: Any, b: Any, x: Any, is_derived: bool = False) -> Any:
    _, inside, sa, sb, sx = _parted(a, b, x)
    return dnp.where(inside, tails(sa, sb, sx, 1.0 - sx, is_derived)[0], 0.0)


def _derived(a: Any, b: Any, x: Any) -> Any:
    return _raw(a, b, x, is_derived=True)


@differentiable(by_forward_mode(_derived, 0, 3), by_forward_mode(_derived, 1, 3), _density)
def betainc_kernel(a: Any, b: Any, x: Any) -> Any:
    """I_x(a, b), and its limits at the ends of its domain."""
    valid, inside, *_ = _parted(a, b, x)
    below = dnp.logical_or(a == 0, b == np.inf)
    above = dnp.logical_or(b == 0, a == np.inf)
    limit = dnp.where(below, 1.0, dnp.where(above, 0.0, np.nan))
    limit = dnp.where(dnp.logical_and(below, above), np.nan, limit)
    limit = dnp.where(x == 0, 0.0, dnp.where(x == 1, 1.0, limit))
    valid = dnp.logical_and(valid, dnp.logical_or(a > 0, b > 0))
    return dnp.where(inside, _raw(a, b, x), dnp.where(valid, limit, np.nan))


@fused()
def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The regularised incomplete beta function: the beta distribution's function at ``x``.

    NaN unless ``a >= 0``, ``b >= 0`` and ``0 <= x <= 1``. It has derivatives of any order in all
    three arguments.
    """
    return evaluate("betainc", betainc_kernel, a, b, x)
