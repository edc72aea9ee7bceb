"""The error function and its relatives, of real arguments.

All are based on two series of Chebyshev polynomials: erf(x)/x in x² for |x| <= 1, and, for all
positive x, (1 + 2x) exp(x²) erfc(x) in (x - 3.75)/(x + 3.75) (Shepherd and Laframboise 1981).
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import cached
from dovetail_jit import fused

from ..coefficients import ERF, ERFCX, ERFINV, QUANTILE_FAR, QUANTILE_MIDDLE, QUANTILE_NEAR
from ..evaluation import Array, ArrayLike, differentiable, evaluate
from ..series import between, beyond, chebyshev, halved, horner, is_single

_CONSTANT = 2 / sqrt(pi)


def _exponential(main: Any, rest: Any) -> Any:
    """``exp(main + rest)`` for a small rest, which the compiler must not add to the other."""
    return lax.exp(main) * horner(rest, [1.0, 1.0, 1 / 2, 1 / 6, 1 / 24])


@differentiable(lambda out, x: -2.0 * x * out)
def gauss(x: Any) -> Any:
    """``exp(-x²)``, without the error of a rounded square, which the exponential magnifies."""
    x = lax.clamp(-30.0, x, 30.0)
    high, low = halved(x)
    return _exponential(-high * high, -low * (x + high))


@differentiable(lambda out, x: -x * out)
def bell(x: Any) -> Any:
    """``exp(-x²/2)``, without the error of a rounded square."""
    x = lax.clamp(-40.0, x, 40.0)
    high, low = halved(x)
    return _exponential(-0.5 * high * high, -0.5 * low * (x + high))


def _scaled_tail(x: Any) -> Any:
    """``exp(x²) erfc(x)`` for x >= 0."""
    return chebyshev(beyond(x, 0.0, 3.75), ERFCX) / (1.0 + 2.0 * x)


def _erfcx_value(x: Any) -> Any:
    tail = _scaled_tail(lax.abs(x))
    low = lax.clamp(-30.0, x, 0.0)
    high, rest = halved(low)
    growth = 2.0 * _exponential(high * high, rest * (low + high))
    return dnp.where(x < 0, growth - tail, tail)


@cached
def scaled_integral(n: int) -> Any:
    """``exp(x²)`` times the n-fold integral of erfc, DLMF 7.18.

    The derivative is -2 (n + 1) times that of the next order, so that derivatives of erfcx are
    accurate where 2 x erfcx(x) - 2/sqrt(π) cancels. It is computed by forward recurrence for
    x < 1.25, else by the continued fraction of quotients.
    """

    @differentiable(lambda out, x: -2.0 * (n + 1) * scaled_integral(n + 1)(x))
    def integral(x: Any) -> Any:
        if n == 0:
            return _erfcx_value(x)
        low = dnp.where(x < 1.25, x, 1.0)
        before, value = lax.full_like(x, _CONSTANT), _erfcx_value(low)
        for k in range(1, n + 1):
            before, value = value, (before - 2.0 * low * value) / (2.0 * k)
        high = dnp.where(x < 1.25, 2.0, x)
        further = 45 if is_single(x) else 100  # for roundings at 1.25
        quotient = 1.0 / (high + lax.sqrt(high * high + 2.0 * (n + further)))
        product = _erfcx_value(high)
        for k in reversed(range(1, n + further)):
            quotient = 0.5 / (high + (k + 1) * quotient)
            if k <= n:
                product = product * quotient
        return dnp.where(x < 1.25, value, product)

    return integral


erfcx_kernel = scaled_integral(0)


@differentiable(lambda out, x: _CONSTANT * gauss(x))
def erf_kernel(x: Any) -> Any:
    """erf(x)."""
    size = lax.abs(x)
    near = x * chebyshev(between(x * x, 0.0, 1.0), ERF)
    # The error of a rounded square is negligible in the sum with 1: x² exp(-x²) is small here.
    far = 1.0 - lax.exp(-size * size) * _scaled_tail(size)
    return dnp.where(size < 1, near, dnp.where(x < 0, -far, far))


@differentiable(lambda out, x: -_CONSTANT * gauss(x))
def erfc_kernel(x: Any) -> Any:
    """erfc(x)."""
    size = lax.abs(x)
    near = 1.0 - x * chebyshev(between(x * x, 0.0, 1.0), ERF)
    far = gauss(size) * _scaled_tail(size)
    return dnp.where(lax.abs(x) < 0.4, near, dnp.where(x < 0, 2.0 - far, far))


def quantile(q: Any) -> Any:
    """The positive x that a normal variable exceeds with probability ``q`` <= 0.13."""
    z = lax.sqrt(-2.0 * lax.log(dnp.where(dnp.logical_and(q > 0, q < 0.2), q, 0.1)))
    x = chebyshev(between(z, 2.0, 5.0), QUANTILE_NEAR)
    x = dnp.where(z > 5.0, chebyshev(between(z, 5.0, 14.0), QUANTILE_MIDDLE), x)
    if not is_single(q):
        x = dnp.where(z > 14.0, chebyshev(between(z, 14.0, 39.0), QUANTILE_FAR), x)
    return dnp.where(q == 0, np.inf, x)


def inverse_centre(y: Any) -> Any:
    """erfinv(y) for |y| <= 3/4."""
    return y * chebyshev(between(y * y, 0.0, 0.5625), ERFINV)


def _erfinv_curve(out: Any, y: Any) -> Any:
    return 2.0 * erfinv_kernel(y) * out * out


@differentiable(_erfinv_curve)
def _erfinv_slope(y: Any) -> Any:
    """``1/erf'`` at erfinv(y), by exp(x²) = erfcx(x)/erfc(x), in which an error of x cancels."""
    size = lax.abs(y)
    tail = erfcx_kernel(lax.abs(erfinv_kernel(y)))
    return tail / (1.0 - size) / _CONSTANT


@differentiable(lambda out, y: _erfinv_slope(y))
def erfinv_kernel(y: Any) -> Any:
    """The inverse of erf."""
    size = lax.abs(y)
    tail = quantile((1.0 - size) * 0.5) * sqrt(0.5)
    value = dnp.where(size < 0.75, inverse_centre(y), dnp.where(y < 0, -tail, tail))
    return dnp.where(size <= 1, value, np.nan)


@fused()
def erf(x: ArrayLike) -> Array:
    """The error function, ``2/sqrt(pi)`` times the integral of ``exp(-t**2)`` from 0 to ``x``."""
    return evaluate("erf", erf_kernel, x)


@fused()
def erfc(x: ArrayLike) -> Array:
    """The complementary error function ``1 - erf(x)``, without cancellation."""
    return evaluate("erfc", erfc_kernel, x)


@fused()
def erfinv(x: ArrayLike) -> Array:
    """The inverse of :func:`erf`: infinite at -1 and 1, NaN beyond."""
    return evaluate("erfinv", erfinv_kernel, x)
