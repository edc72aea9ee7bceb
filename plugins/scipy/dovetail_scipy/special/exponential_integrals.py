"""The exponential integrals: E1 and Ei by series of Chebyshev polynomials, En by its fraction."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_jit import fused

from . import coefficients as c
from .evaluation import Array, ArrayLike, differentiable, evaluate
from .gamma_family.gamma_functions import gamma_kernel
from .gamma_family.hurwitz import digamma_kernel
from .series import between, beyond, chebyshev, is_single, log1p

_EULER = 0.5772156649015329


@differentiable(lambda out, x: -lax.exp(-x) / x)
def e1_kernel(x: Any) -> Any:
    """E1(x) for x >= 0: -γ - log(x) and an entire function, or exp(-x)/x and a bounded one."""
    positive = dnp.where(x > 0, x, 1.0)
    near = positive * chebyshev(between(positive, 0.0, 0.75), c.E1_NEAR) - (
        lax.log(positive) + _EULER
    )
    safe = lax.max(x, lax.full_like(x, 0.75))
    far = lax.exp(-safe) * chebyshev(beyond(safe, 0.75, 3.0), c.E1_FAR) / safe
    value = dnp.where(positive < 0.75, near, far)
    return dnp.where(x > 0, value, dnp.where(x == 0, np.inf, np.nan))


@differentiable(lambda out, x: lax.exp(x) / x)
def ei_kernel(x: Any) -> Any:
    """Ei(x): next to its zero x0, log(x/x0) and x - x0 times an entire function."""
    single = is_single(x)
    zero = float(np.float32(c.EI_ZERO[0])) if single else c.EI_ZERO[0]
    low = c.EI_ZERO[0] - zero + c.EI_ZERO[1]
    inside = dnp.logical_and(x > 0, x < 6.0)
    small = dnp.where(inside, x, 1.0)
    gap = small - zero
    close = dnp.logical_and(small > 0.25, small < 0.6)
    log = dnp.where(close, log1p(gap / zero), lax.log(small / zero))
    slope = chebyshev(between(small, 0.0, 6.0), c.EI_NEAR)
    near = log + gap * slope - low * (1.0 / zero + slope)
    safe = lax.max(x, lax.full_like(x, 6.0))
    inverse = 1.0 / safe
    series = chebyshev(between(inverse, 1 / 14, 1 / 6), c.EI_MIDDLE)
    series = dnp.where(safe > 14.0, chebyshev(between(inverse, 1 / 40, 1 / 14), c.EI_FAR), series)
    series = dnp.where(safe > 40.0, chebyshev(between(inverse, 0.0, 1 / 40), c.EI_FARTHEST), series)
    # exp(x)/x is finite a little beyond where exp(x) is.
    half = lax.exp(0.5 * lax.min(safe, lax.full_like(x, 200.0 if single else 1500.0)))
    large = safe > (80.0 if single else 700.0)
    far = dnp.where(large, half * (half * inverse), lax.exp(safe) * inverse) * series
    value = dnp.where(inside, near, dnp.where(safe > (200.0 if single else 1500.0), np.inf, far))
    value = dnp.where(x < 0, -e1_kernel(lax.abs(x)), value)
    return dnp.where(x == 0, -np.inf, dnp.where(x != x, x, value))


@fused()
def exp1(x: ArrayLike) -> Array:
    """The exponential integral E1, of ``exp(-t) / t`` from ``x`` to infinity; NaN for ``x < 0``."""
    return evaluate("exp1", e1_kernel, x)


@fused()
def expi(x: ArrayLike) -> Array:
    """The exponential integral Ei, of ``exp(t) / t`` from minus infinity to ``x``."""
    return evaluate("expi", ei_kernel, x)


def _en_series(n: Any, x: Any) -> Any:
    """En(x) for n >= 1 and x <= 1, DLMF 8.19.8."""
    total, power = lax.full_like(x, 0.0), lax.full_like(x, 1.0)
    for k in range(12 if is_single(x) else 22):
        gap = float(k) + 1.0 - n
        singular = gap == 0
        total = total - dnp.where(
            singular, 0.0, power / dnp.where(singular, 1.0, gap * factorial(k))
        )
        power = power * -x
    log = lax.log(dnp.where(x > 0, x, 1.0))
    order = lax.min(n, lax.full_like(n, 30.0))
    leading = lax.pow(-x, order - 1.0) / gamma_kernel(order) * (digamma_kernel(order) - log)
    # (-x)^(n-1) for integers n: the power of a negative number.
    return total + dnp.where(dnp.logical_and(n > 1, x == 0), 0.0, leading)


def _en_fraction(n: Any, x: Any) -> Any:
    """En(x) for x >= 1 by the even part of its continued fraction, DLMF 8.19.17."""
    steps = 28 if is_single(x) else 100

    def step(i: Any, value: Any) -> Any:
        k = lax.convert_element_type(steps - i, x.dtype)
        return x + n + 2.0 * (k - 1.0) - k * (n + k - 1.0) / value

    value = lax.fori_loop(0, steps, step, x + n + 2.0 * steps)
    return lax.exp(-x) / value


_NO_ORDER = (
    "expn has no derivative in its order n. If that is constant, pass it through lax.stop_gradient"
)


def _en_dx(out: Any, n: Any, x: Any) -> Any:
    return -en_kernel(n - 1.0, x)


@differentiable(_NO_ORDER, _en_dx)
def en_kernel(n: Any, x: Any) -> Any:
    """En(x), for n < 1 by the recurrence from E0 downwards."""
    order = lax.max(n, lax.full_like(n, 1.0))
    valid = x >= 0
    small = x < 1.0
    low = _en_series(order, dnp.where(dnp.logical_and(valid, small), x, 0.5))
    high = _en_fraction(order, lax.clamp(1.0, x, 1e4))
    value = dnp.where(small, low, dnp.where(x > 1e4, 0.0, high))
    at_zero = dnp.where(order > 1, 1.0 / dnp.where(order > 1, order - 1.0, 1.0), np.inf)
    value = dnp.where(x == 0, at_zero, value)
    elementary = dnp.where(x == 0, np.inf, lax.exp(-x) / x)
    value = dnp.where(n == 0, elementary, value)
    value = dnp.where(n < 0, _en_negative(n, x), value)
    return dnp.where(valid, value, np.nan)


def _en_negative(n: Any, x: Any) -> Any:
    """En(x) for n < 0: exp(-x)/x times the sum of m!/(m-k)! x^-k, with m = -n."""
    orders = lax.max(-n, lax.full_like(n, 0.0))

    def step(state: Any) -> Any:
        k, term, total = state
        term = term * lax.max(orders - k, lax.full_like(n, 0.0)) / x
        return k + 1.0, term, total + term

    one = lax.full_like(x, 1.0)
    most = dnp.max(orders, initial=0.0)
    total = lax.while_loop(lambda s: s[0] < most, step, (x.dtype.type(0), one, one))[2]
    return lax.exp(-x) / x * total


@fused()
def expn(n: ArrayLike, x: ArrayLike) -> Array:
    """The generalized exponential integral, of ``exp(-x * t) / t**n`` from 1 to infinity.

    Args:
        n: integers, or floating-point numbers that are integers; the order has no derivative.
        x: non-negative numbers; the result is NaN for others.
    """
    return evaluate("expn", en_kernel, n, x)
