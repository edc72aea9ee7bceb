"""The regularised incomplete gamma functions P and Q = 1 - P.

They are computed by Temme's uniform expansion (DLMF 8.12) if a > 20 and x is within 30 % of it;
else P by its series (DLMF 8.11.4) for x < a or x < 1, and Q by its continued fraction (DLMF 8.9.2),
or for x < 1 by a series without the 1 of 1 - P. Derivatives in a are those of this computation, by
forward mode.
"""

from __future__ import annotations

from math import factorial, pi
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import cached
from dovetail_jit import fused

from ..coefficients import ETA, LOG_GAMMA, TEMME
from ..error_family.error_functions import erfcx_kernel
from ..evaluation import Array, ArrayLike, by_forward_mode, differentiable, evaluate
from ..series import (
    between,
    chebyshev,
    epsilon,
    horner,
    is_single,
    log1p,
    log1pmx,
    lost_in_sum,
    residual,
)
from .gamma_functions import gamma_kernel, stirling_rest

_LIMIT = 2000


def density_term(a: Any, x: Any) -> Any:
    """``x^a exp(-x)/Γ(a + 1)`` for positive arguments."""
    large = a > 16.0
    low = dnp.where(large, 1.0, a)
    root = lax.pow(x, 0.5 * low) * lax.exp(-0.5 * x)
    tall = low > 1.0  # where a + 1 would be rounded
    gamma = gamma_kernel(dnp.where(tall, low, low + 1.0)) * dnp.where(tall, low, 1.0)
    near = root * (root / gamma)
    high, deviation = dnp.where(large, a, 20.0), dnp.where(large, x, 20.0)
    deviation = (deviation - high) / high
    # Far from the maximum as (x/a)^a exp(a - x), unless the roots of these overflow.
    most = 160.0 if is_single(x) else 1400.0
    bounded = high * lax.log(dnp.where(large, x, high) / high)
    bounded = lax.max(lax.abs(bounded), lax.abs(deviation * high)) < most
    central = dnp.logical_or(lax.abs(deviation) < 0.4, dnp.logical_not(bounded))
    peak = lax.exp(high * log1pmx(dnp.where(central, deviation, 0.0)))
    other = dnp.where(dnp.logical_or(central, dnp.logical_not(large)), high, x)
    base, excess = other / high, high - other
    root = lax.pow(base, 0.5 * high) * lax.exp(0.5 * excess)
    lost = residual(other, high, base) / base + lost_in_sum(high, -other, excess)
    far = dnp.where(central, peak, root * (root * (1.0 + lost))) * lax.exp(-stirling_rest(high))
    return dnp.where(large, far * lax.rsqrt(2 * pi * high), near)


def _series(a: Any, x: Any) -> Any:
    """Σ x^n/((a + 1) ... (a + n)) from n = 0."""
    eps = epsilon(x)

    def going(state: Any) -> Any:
        return dnp.logical_and(state[0] < _LIMIT, dnp.any(state[-1]))

    def step(state: Any) -> Any:
        n, r, term, total, _ = state
        r = r + 1.0
        term = term * (x / r)
        total = total + term
        return n + 1.0, r, term, total, term > total * eps

    one = lax.full_like(x, 1.0)
    return lax.while_loop(going, step, (x.dtype.type(0), a, one, one, one > 0))[3]


def _fraction(a: Any, x: Any, least: Any) -> Any:
    """1/(x+1-a + K(-n(n - a)/(x+1-a + 2n))), by Lentz's method with at least so many steps."""
    eps = 2 * epsilon(x)

    def going(state: Any) -> Any:
        return dnp.logical_and(state[0] < _LIMIT, dnp.any(state[-1]))

    def step(state: Any) -> Any:
        n, b, c, d, h, active = state
        numerator = -n * (n - a)
        b = b + 2.0
        d = 1.0 / (numerator * d + b)
        c = b + numerator / c
        factor = c * d
        # Elements that have converged stay: the roundings of further factors would add up.
        h = dnp.where(active, h * factor, h)
        unfinished = dnp.logical_or(lax.abs(factor - 1.0) > eps, n < least)
        return n + 1.0, b, c, d, h, dnp.logical_and(active, unfinished)

    b = x + 1.0 - a
    state = (x.dtype.type(1), b, lax.full_like(x, 1e30), 1.0 / b, 1.0 / b, b == b)
    return lax.while_loop(going, step, state)[4]


def _small_upper(a: Any, x: Any) -> Any:
    """Q for x <= 1.1 and a < 1.3.

    It is -expm1(a log(x) - log Γ(1 + a)), less the terms of P's alternating series but the first.
    """
    near = a < 0.5
    u = dnp.where(near, a, a - 1.0)
    log_gamma = u * chebyshev(2.0 * u, LOG_GAMMA) - dnp.where(near, log1p(a), 0.0)
    exponent = a * lax.log(x) - log_gamma
    total, power = lax.full_like(x, 0.0), lax.full_like(x, 1.0)
    for n in range(1, 12 if is_single(x) else 21):
        power = power * -x
        total = total + power / ((a + float(n)) * factorial(n))
    return -lax.expm1(exponent) - lax.exp(exponent) * a * total


@cached
def _temme(eps: float) -> list[list[float]]:
    """The coefficients in Temme's expansion that are not negligible for a > 20 and |η| < 1/3."""
    result = []
    for k, row in enumerate(TEMME):
        seen = [n for n, c in enumerate(row) if abs(c) * 0.34**n * 20.0**-k > 0.02 * eps]
        if seen:
            result.append(list(row[: max(seen) + 1]))
    return result


def _uniform(a: Any, x: Any) -> tuple[Any, Any]:
    """P and Q by Temme's expansion; both are half of erfc, corrected."""
    deviation = lax.clamp(-0.32, (x - a) / a, 0.32)
    eta = deviation * chebyshev(between(deviation, -0.32, 0.32), ETA)
    above = deviation > 0
    y = dnp.where(above, eta, -eta) * lax.sqrt(0.5 * a)  # not abs, whose derivative in 0 is 0
    polynomials = [horner(eta, row) for row in _temme(epsilon(a))]
    inverse = 1.0 / a
    rest = polynomials[-1]
    for p in reversed(polynomials[:-1]):
        rest = rest * inverse + p
    size = lax.exp(a * log1pmx(deviation))
    rest = rest * lax.rsqrt(2 * pi * a)
    tail = 0.5 * erfcx_kernel(y)
    small = size * dnp.where(above, tail + rest, tail - rest)
    return dnp.where(above, 1.0 - small, small), dnp.where(above, small, 1.0 - small)


def tails(a: Any, x: Any, is_derived: bool = False) -> tuple[Any, Any]:
    """P and Q of positive finite arguments; each method gets others where another is used.
    Where a is an integer the fraction ends, but its derivative does not: it takes as many steps as
    for others, of which there are about (log(eps)/4)^2/x.
    """
    uniform = dnp.logical_and(a > 20.0, lax.abs(x - a) < 0.3 * a)
    small = dnp.logical_and(x <= 1.1, a < lax.max(1.1 * x, -0.4 / lax.log(lax.min(x, x * 0 + 0.6))))
    by_fraction = dnp.logical_and(dnp.logical_and(x > a, x > 1.1), dnp.logical_not(uniform))
    by_series = dnp.logical_not(dnp.logical_or(uniform, by_fraction))
    density = density_term(dnp.where(uniform, 2.0, a), dnp.where(uniform, 1.0, x))
    lower = density * _series(dnp.where(by_series, a, 2.0), dnp.where(by_series, x, 1.0))
    fa, fx = dnp.where(by_fraction, a, 1.0), dnp.where(by_fraction, x, 2.0)
    upper = density * fa * _fraction(fa, fx, 20.0 + 110.0 / fx if is_derived else 0.0)
    tiny = _small_upper(dnp.where(small, a, 0.5), dnp.where(small, x, 0.5))
    complement = dnp.where(small, tiny, 1.0 - lower)
    p, q = _uniform(dnp.where(uniform, a, 30.0), dnp.where(uniform, x, 30.0))
    p = dnp.where(uniform, p, dnp.where(by_fraction, 1.0 - upper, lower))
    return p, dnp.where(uniform, q, dnp.where(by_fraction, upper, complement))


def _inside(a: Any, x: Any) -> tuple[Any, Any, Any]:
    inside = dnp.logical_and(dnp.logical_and(a > 0, x > 0), dnp.logical_and(a < np.inf, x < np.inf))
    return inside, dnp.where(inside, a, 1.0), dnp.where(inside, x, 1.0)


def _limit(a: Any, x: Any, at_zero: float) -> Any:
    """The limit of the function at the ends of its domain, ``at_zero`` for x = 0."""
    beginning = dnp.logical_and(a > 0, x == 0)
    beginning = dnp.logical_or(beginning, dnp.logical_and(a == np.inf, x < np.inf))
    end = dnp.logical_or(dnp.logical_and(a == 0, x > 0), x == np.inf)
    end = dnp.logical_and(end, dnp.logical_and(a >= 0, a < np.inf))
    value = dnp.where(beginning, at_zero, dnp.where(end, 1.0 - at_zero, np.nan))
    return dnp.where(dnp.logical_and(a >= 0, x >= 0), value, np.nan)


def _raw(a: Any, x: Any, is_derived: bool = False) -> tuple[Any, Any]:
    inside, a, x = _inside(a, x)
    p, q = tails(a, x, is_derived)
    return dnp.where(inside, p, 0.0), dnp.where(inside, q, 0.0)


def _derived_lower(a: Any, x: Any) -> Any:
    return _raw(a, x, is_derived=True)[0]


def _derived_upper(a: Any, x: Any) -> Any:
    return _raw(a, x, is_derived=True)[1]


def _slope(out: Any, a: Any, x: Any) -> Any:
    inside, sa, sx = _inside(a, x)
    at_zero = dnp.where(a > 1, 0.0, dnp.where(a == 1, 1.0, np.inf))
    limit = dnp.where(x == 0, at_zero, dnp.where(x == np.inf, 0.0, np.nan))
    return dnp.where(inside, density_term(sa, sx) * (sa / sx), limit)


_SLOPE = by_forward_mode(_derived_lower, 0, 2)


@differentiable(_SLOPE, _slope)
def gammainc_kernel(a: Any, x: Any) -> Any:
    """P(a, x)."""
    return dnp.where(_inside(a, x)[0], _raw(a, x)[0], _limit(a, x, 0.0))


@differentiable(by_forward_mode(_derived_upper, 0, 2), lambda out, a, x: -_slope(out, a, x))
def gammaincc_kernel(a: Any, x: Any) -> Any:
    """Q(a, x)."""
    return dnp.where(_inside(a, x)[0], _raw(a, x)[1], _limit(a, x, 1.0))


def order_slope(a: Any, x: Any) -> Any:
    """The derivative of P in a."""
    return _SLOPE(None, a, x)


@fused()
def gammainc(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularised lower incomplete gamma function: the gamma distribution's function at ``x``.

    NaN for negative arguments. It has derivatives of any order in both arguments.
    """
    return evaluate("gammainc", gammainc_kernel, a, x)


@fused()
def gammaincc(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularised upper incomplete gamma function, ``1 - gammainc(a, x)``."""
    return evaluate("gammaincc", gammaincc_kernel, a, x)
