"""Dawson's integral, Fresnel's integrals, the sine and cosine integrals, Spence's function."""

from __future__ import annotations

from math import factorial, pi
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_jit import fused

from . import coefficients as c
from .evaluation import Array, ArrayLike, differentiable, evaluate
from .gamma_family.hurwitz import BERNOULLI
from .series import between, beyond, chebyshev, halved, horner, is_single, log1p


def _dawson(x: Any, near: Any, middle: Any, far: Any, power: int) -> Any:
    """``near`` for |x| <= 2, beyond by series, in x and from 5.5 on in 1/x², over a power of x."""
    size = lax.abs(x)
    outside = dnp.where(size > 2.0, x, 2.0)
    inverse = 1.0 / outside
    series = chebyshev(between(lax.abs(outside), 2.0, 5.5), middle)
    tail = chebyshev(between(inverse * inverse, 0.0, 1 / 5.5**2), far)
    series = dnp.where(size > 5.5, tail, series)
    return dnp.where(size > 2.0, series * lax.integer_pow(inverse, power), near)


def _dawson_near(x: Any) -> Any:
    return x * chebyshev(between(x * x, 0.0, 4.0), c.DAWSON_NEAR)


# From D' = 1 - 2 x D: D'' = -2 (D + x D'), and so on, which cancel where x is large.
def _dawson_third(out: Any, x: Any) -> Any:
    return -4.0 * _dawson_slope(x) - 2.0 * x * out


@differentiable(_dawson_third)
def _dawson_curve(x: Any) -> Any:
    d = _dawson_near(x)
    near = -2.0 * (d + x * (1.0 - 2.0 * x * d))
    return _dawson(x, near, c.DAWSON_CURVE, c.DAWSON_CURVE_FAR, 3)


@differentiable(lambda out, x: _dawson_curve(x))
def _dawson_slope(x: Any) -> Any:
    near = 1.0 - 2.0 * x * _dawson_near(x)
    return _dawson(x, near, c.DAWSON_SLOPE, c.DAWSON_SLOPE_FAR, 2)


@differentiable(lambda out, x: _dawson_slope(x))
def dawson_kernel(x: Any) -> Any:
    """D(x)."""
    return _dawson(x, _dawson_near(x), c.DAWSON_MIDDLE, c.DAWSON_FAR, 1)


@fused()
def dawsn(x: ArrayLike) -> Array:
    """Dawson's integral, ``exp(-x**2)`` times the integral of ``exp(t**2)`` from 0 to ``x``."""
    return evaluate("dawsn", dawson_kernel, x)


def _quarter_turns(x: Any) -> tuple[Any, Any]:
    """cos(π x²/2) and sin(π x²/2), where whole turns are removed before anything is rounded."""
    size = lax.min(lax.abs(x), lax.full_like(x, 1e7 if is_single(x) else 1e15))
    high, low = halved(size)
    square = high * high
    square = square - 4.0 * lax.floor(square * 0.25)
    rest = low * (size + high)
    angle = square + (rest - 4.0 * lax.floor(rest * 0.25))
    angle = (angle - 4.0 * lax.round(angle * 0.25)) * (pi / 2)
    return lax.cos(angle), lax.sin(angle)


def _cos_slope(out: Any, x: Any) -> Any:
    return -pi * x * _sin_square(x)


@differentiable(_cos_slope)
def _cos_square(x: Any) -> Any:
    return _quarter_turns(x)[0]


@differentiable(lambda out, x: pi * x * _cos_square(x))
def _sin_square(x: Any) -> Any:
    return _quarter_turns(x)[1]


def _fresnel_far(x: Any, first: Any, second: Any) -> Any:
    """1/2 + f first - g second, DLMF 7.5.3 and 7.5.4."""
    safe = lax.max(lax.abs(x), lax.full_like(x, 1.25))
    inverse = 1.0 / (pi * safe)
    t = beyond(safe * safe, 1.6, 4.0)
    f = inverse * chebyshev(t, c.FRESNEL_F)
    g = inverse * inverse / safe * chebyshev(t, c.FRESNEL_G)
    value = 0.5 + f * first - g * second
    return dnp.where(lax.abs(x) == np.inf, 0.5, value)


@differentiable(lambda out, x: _sin_square(x))
def fresnel_s(x: Any) -> Any:
    """S(x)."""
    square = x * x
    near = x * square * chebyshev(between(square * square, 0.0, 2.6), c.FRESNEL_S)
    cosine, sine = _quarter_turns(x)
    far = _fresnel_far(x, -cosine, sine)
    return dnp.where(square < 1.6, near, dnp.where(x < 0, -far, far))


@differentiable(lambda out, x: _cos_square(x))
def fresnel_c(x: Any) -> Any:
    """C(x)."""
    square = x * x
    near = x * chebyshev(between(square * square, 0.0, 2.6), c.FRESNEL_C)
    cosine, sine = _quarter_turns(x)
    far = _fresnel_far(x, sine, cosine)
    return dnp.where(square < 1.6, near, dnp.where(x < 0, -far, far))


@fused()
def fresnel(x: ArrayLike) -> tuple[Array, Array]:
    """Fresnel's integrals: those of ``sin(pi*t**2/2)`` and ``cos(pi*t**2/2)`` from 0 to ``x``.

    They are accurate for all ``x``: the angle is reduced before it is rounded.
    """
    return evaluate("fresnel", lambda x: (fresnel_s(x), fresnel_c(x)), x)


def _auxiliary(x: Any) -> tuple[Any, Any]:
    """f and g, DLMF 6.2.17 and 6.2.18, for x >= 4."""
    inverse = 1.0 / x
    t = beyond(x, 4.0, 10.0)
    return inverse * chebyshev(t, c.SICI_F), inverse * inverse * chebyshev(t, c.SICI_G)


def _sinc(x: Any) -> Any:
    """sin(x)/x, with derivatives at 0."""
    small = lax.abs(x) < 1.0
    square = dnp.where(small, x * x, 0.0)
    series = horner(square, [(-1) ** k / factorial(2 * k + 1) for k in range(10)])
    safe = dnp.where(small, 1.0, x)
    return dnp.where(small, series, dnp.where(lax.abs(x) == np.inf, 0.0, lax.sin(safe) / safe))


@differentiable(lambda out, x: _sinc(x))
def sine_integral(x: Any) -> Any:
    """Si(x)."""
    size = lax.abs(x)
    near = x * chebyshev(between(x * x, 0.0, 16.0), c.SINE_INTEGRAL)
    safe = lax.max(size, lax.full_like(x, 4.0))
    f, g = _auxiliary(safe)
    far = pi / 2 - f * lax.cos(safe) - g * lax.sin(safe)
    far = dnp.where(size == np.inf, pi / 2, far)
    return dnp.where(size < 4.0, near, dnp.where(x < 0, -far, far))


@differentiable(lambda out, x: lax.cos(x) / x)
def cosine_integral(x: Any) -> Any:
    """Ci(x)."""
    size = lax.abs(x)
    zero = np.float32(c.CI_ZERO[0]) if is_single(x) else c.CI_ZERO[0]
    low = c.CI_ZERO[0] - float(zero) + c.CI_ZERO[1]
    zero = float(zero)
    small = dnp.where(size < 4.0, size, 1.0)
    rest = chebyshev(between(small * small, 0.0, 16.0), c.COSINE_INTEGRAL)
    gap = small - zero
    close = dnp.logical_and(small > 0.4, small < 1.0)
    log = dnp.where(close, log1p(gap / zero), lax.log(small / zero))
    slope = (small + zero) * rest
    near = log + gap * slope - low * (1.0 / zero + slope)
    safe = lax.max(size, lax.full_like(x, 4.0))
    f, g = _auxiliary(safe)
    far = f * lax.sin(safe) - g * lax.cos(safe)
    value = dnp.where(size < 4.0, near, dnp.where(x == np.inf, 0.0, far))
    return dnp.where(x == -np.inf, np.nan, value)


@fused()
def sici(x: ArrayLike) -> tuple[Array, Array]:
    """The sine integral and the cosine integral; of negative ``x`` the latter's real part.

    Next to the zeros of the cosine integral beyond 1 its error is small compared to ``1 / x``.
    """
    return evaluate("sici", lambda x: (sine_integral(x), cosine_integral(x)), x)


def _log_ratio(x: Any) -> Any:
    """log(x)/(1 - x), with derivatives at 1."""
    small = lax.abs(x - 1.0) < 0.35
    u = dnp.where(small, x - 1.0, 0.0)
    series = -horner(u, [(-1) ** k / (k + 1) for k in range(16 if is_single(x) else 34)])
    safe = dnp.where(small, 3.0, x)
    return dnp.where(small, series, lax.log(safe) / (1.0 - safe))


def _debye(w: Any) -> Any:
    """Li2(1 - exp(-w)) = w - w²/4 + Σ B(2k) w^(2k+1)/(2k+1)!, for |w| < 0.7."""
    square = w * w
    terms = [b / factorial(2 * k + 3) for k, b in enumerate(BERNOULLI)]
    return w * (1.0 - 0.25 * w + square * horner(square, terms))


@differentiable(lambda out, x: _log_ratio(x))
def spence_kernel(x: Any) -> Any:
    """Li2(1 - x) from arguments between 1/2 and 2, by DLMF 25.12.4 and 25.12.6."""
    small, large = x < 0.5, x > 2.0
    log = lax.log(dnp.where(x > 0, x, 1.0))
    centre = _debye(dnp.where(dnp.logical_or(small, large), 0.0, -log))
    y = dnp.where(large, 1.0 / x, dnp.where(dnp.logical_and(small, x >= 0), x, 0.25))
    rest = log1p(-y)
    product = dnp.where(y > 0, lax.log(dnp.where(y > 0, y, 1.0)) * rest, 0.0)
    outer = pi * pi / 6 - product - _debye(-rest)
    value = dnp.where(small, outer, dnp.where(large, -0.5 * log * log - outer, centre))
    return dnp.where(x >= 0, value, np.nan)


@fused()
def spence(x: ArrayLike) -> Array:
    """Spence's function, the integral of ``log(t) / (1 - t)`` from 1 to ``x``: ``Li2(1 - x)``.

    NaN for negative ``x``.
    """
    return evaluate("spence", spence_kernel, x)
