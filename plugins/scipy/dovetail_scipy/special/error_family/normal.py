"""The normal distribution function, its logarithm and its inverse; Owen's function."""

from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.arguments import integer
from dovetail_core import here
from dovetail_jit import fused

from ..evaluation import Array, ArrayLike, differentiable, evaluate
from ..series import is_single, log1p
from .error_functions import bell, erf_kernel, erfcx_kernel, inverse_centre, quantile

_HALF = sqrt(0.5)
_LOG_2, _LOG_TAU = log(2), log(2 * pi)


@differentiable(lambda out, x: sqrt(0.5 / pi) * bell(x))
def ndtr_kernel(x: Any) -> Any:
    """The normal distribution function."""
    size = lax.abs(x)
    tail = 0.5 * bell(x) * erfcx_kernel(size * _HALF)
    centre = 0.5 + 0.5 * erf_kernel(x * _HALF)
    return dnp.where(size < 0.5, centre, dnp.where(x < 0, tail, 1.0 - tail))


def _log_ndtr_slope(out: Any, x: Any) -> Any:
    # On the right the argument of erfcx would be rounded before it is squared.
    left = x < 0
    low, high = dnp.where(left, x, 0.0), dnp.where(left, 0.0, x)
    below = sqrt(2 / pi) / erfcx_kernel(low * -_HALF)
    return dnp.where(left, below, sqrt(0.5 / pi) * bell(high) / ndtr_kernel(high))


@differentiable(_log_ndtr_slope)
def log_ndtr_kernel(x: Any) -> Any:
    """The logarithm of the normal distribution function."""
    low = lax.min(x, lax.full_like(x, -1.0))
    left = lax.log(0.5 * erfcx_kernel(low * -_HALF)) - 0.5 * low * low
    left = dnp.where(x == -np.inf, -np.inf, left)
    right = log1p(-ndtr_kernel(-lax.max(x, lax.full_like(x, -1.0))))
    return dnp.where(x < -1.0, left, dnp.where(x != x, x, right))


def _ndtri_curve(out: Any, p: Any) -> Any:
    return out * out * ndtri_kernel(p)


@differentiable(_ndtri_curve)
def _ndtri_slope(p: Any) -> Any:
    """One over the density at ndtri(p), as a quotient in which an error of ndtri(p) cancels."""
    tail = erfcx_kernel(lax.abs(ndtri_kernel(p)) * _HALF)
    return sqrt(pi / 2) * tail / dnp.where(p < 0.5, p, 1.0 - p)


@differentiable(lambda out, p: _ndtri_slope(p))
def ndtri_kernel(p: Any) -> Any:
    """The inverse of the normal distribution function."""
    centred = p - 0.5
    size = lax.abs(centred)
    tail = quantile(dnp.where(centred < 0, p, 1.0 - p))
    tail = dnp.where(centred < 0, -tail, tail)
    value = dnp.where(size < 0.375, sqrt(2) * inverse_centre(2.0 * centred), tail)
    return dnp.where(dnp.logical_and(p >= 0, p <= 1), value, np.nan)


@differentiable(lambda out, y: sqrt(pi / 2) * erfcx_kernel(out * -_HALF))
def inverse_log_ndtr(y: Any) -> Any:
    """The inverse of :func:`log_ndtr`.

    For very negative ``y`` it is computed by Newton's method from the leading terms of the
    asymptotic series, DLMF 7.12.1.
    """
    most = -80.0 if is_single(y) else -700.0
    far = y < most
    near = dnp.where(far, -1.0, y)
    small = near < -_LOG_2
    z = ndtri_kernel(dnp.where(small, lax.exp(near), -lax.expm1(near)))
    x = dnp.where(far, -2.0 * y, 200.0) - _LOG_TAU
    x = -lax.sqrt(x - lax.log(x))

    def step(_: Any, x: Any) -> Any:
        return x - (log_ndtr_kernel(x) - y) * (sqrt(pi / 2) * erfcx_kernel(x * -_HALF))

    x = lax.fori_loop(0, 3, step, x)
    return dnp.where(far, dnp.where(y == -np.inf, -np.inf, x), dnp.where(small, z, -z))


@fused()
def ndtr(x: ArrayLike) -> Array:
    """The normal distribution function: the probability of a value below ``x``."""
    return evaluate("ndtr", ndtr_kernel, x)


@fused()
def ndtri(p: ArrayLike) -> Array:
    """The inverse of :func:`ndtr`; infinite at 0 and 1, NaN beyond."""
    return evaluate("ndtri", ndtri_kernel, p)


def log_ndtr(x: ArrayLike, series_order: int = 3) -> Array:
    """The logarithm of :func:`ndtr`, accurately in both tails, with its derivatives of any order.

    Args:
        series_order: accepted for compatibility with JAX, 0 to 30; it has no effect.

    Raises:
        TypeError: ``series_order`` is no integer.
        ValueError: it is negative or greater than 30.
    """
    order = integer("log_ndtr: series_order", series_order)
    if not 0 <= order <= 30:
        raise ValueError(f"log_ndtr: series_order must be from 0 to 30, got {order}{here()}")
    return _log_ndtr(x)


@fused()
def _log_ndtr(x: Any) -> Any:
    return evaluate("log_ndtr", log_ndtr_kernel, x)


def _owens_dh(out: Any, h: Any, a: Any) -> Any:
    return -0.5 * sqrt(0.5 / pi) * bell(h) * erf_kernel(h * a * _HALF)


def _owens_da(out: Any, h: Any, a: Any) -> Any:
    return bell(h) * bell(h * a) / (2 * pi * (1.0 + a * a))


def _owens_inside(h: Any, a: Any) -> Any:
    """T(h, a) for h >= 0 and 0 <= a <= 1: the quadrature of Gauss and Legendre of the integrand.

    It ends where the integrand is negligible in comparison with its start.
    """
    single = is_single(h)
    nodes, weights = np.polynomial.legendre.leggauss(14 if single else 30)
    end = lax.min(a, (6.0 if single else 8.8) / lax.max(h, lax.full_like(h, 1.0)))
    total = lax.full_like(h, 0.0)
    for node, weight in zip(nodes, weights):
        x = end * float(0.5 + 0.5 * node)
        total = total + float(weight) * lax.exp(-0.5 * (h * x) * (h * x)) / (1.0 + x * x)
    return bell(h) * end * total * (0.25 / pi)


@differentiable(_owens_dh, _owens_da)
def owens_kernel(h: Any, a: Any) -> Any:
    """Owen's T; for a > 1 it is (Q(h) + Q(ah))/2 - Q(h) Q(ah) - T(ah, 1/a)."""
    height, slope = lax.abs(h), lax.abs(a)
    steep = slope > 1
    far = dnp.where(steep, height * slope, height)
    far = dnp.where(far != far, 0.0, far)
    inside = _owens_inside(
        lax.min(far, lax.full_like(far, 1e4)), dnp.where(steep, 1.0 / slope, slope)
    )
    q, p = ndtr_kernel(-height), ndtr_kernel(-far)
    value = dnp.where(steep, 0.5 * (q + p) - q * p - inside, inside)
    return dnp.where(a < 0, -value, value) + 0.0 * (h * 0.0 + dnp.where(a != a, a, 0.0))


@fused()
def owens_t(h: ArrayLike, a: ArrayLike) -> Array:
    """Owen's T function, the probability of ``X > h`` and ``0 < Y < a * X`` for normal X and Y.

    It is ``1/(2*pi)`` times the integral of ``exp(-h**2 * (1 + x**2) / 2) / (1 + x**2)`` from 0
    to ``a``. It is differentiated in both arguments.
    """
    return evaluate("owens_t", owens_kernel, h, a)
