"""Bessel functions of integer order and real argument."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import cached
from dovetail_jit import fused

from .coefficients import I0_FAR, I1_FAR
from .evaluation import Array, ArrayLike, differentiable, evaluate
from .series import between, chebyshev, horner, is_single


def _series(n: int, x: Any) -> Any:
    """In(x) for |x| <= 8 by its power series, whose terms are positive, DLMF 10.25.2."""
    square = 0.25 * x * x
    terms = 16 if is_single(x) else 27
    total = horner(square, [1 / (factorial(k) * factorial(k + n)) for k in range(terms)])
    return lax.integer_pow(0.5 * x, n) * total


def _bounded(n: int, x: Any) -> Any:
    """sqrt(x) exp(-x) In(x) for x >= 8, of higher orders by DLMF 10.29.1."""
    inverse = 1.0 / x
    if n < 2:
        return chebyshev(between(inverse, 0.0, 1 / 8), (I0_FAR, I1_FAR)[n])
    return _bounded(n - 2, x) - (2.0 * (n - 1)) * inverse * _bounded(n - 1, x)


@cached
def modified(n: int) -> Any:
    """In, whose derivative is (I(n-1) + I(n+1))/2."""

    def slope(out: Any, x: Any) -> Any:
        return modified(1)(x) if n == 0 else 0.5 * (modified(n - 1)(x) + modified(n + 1)(x))

    @differentiable(slope)
    def bessel(x: Any) -> Any:
        size = lax.abs(x)
        far = _bounded(n, lax.max(size, lax.full_like(x, 8.0)))
        limit = 150.0 if is_single(x) else 1500.0
        half = lax.exp(0.5 * lax.min(size, lax.full_like(x, limit)))
        far = half * (half * lax.rsqrt(size) * far)
        if n % 2:
            far = dnp.where(x < 0, -far, far)
        infinite = dnp.where(x < 0, (-1.0) ** n * np.inf, np.inf)
        far = dnp.where(size == np.inf, infinite, far)
        return dnp.where(size < 8.0, _series(n, lax.clamp(-8.0, x, 8.0)), far)

    return bessel


@cached
def scaled(n: int) -> Any:
    """exp(-|x|) In(x), for n = 0 or 1."""

    @differentiable(lambda out, x: lax.scaled_bessel_slope_p.bind(x, n=n, order=1))
    def bessel(x: Any) -> Any:
        size = lax.abs(x)
        large = lax.max(size, lax.full_like(x, 8.0))
        far = _bounded(n, large) * lax.rsqrt(large)
        if n % 2:
            far = dnp.where(x < 0, -far, far)
        near = lax.exp(-lax.min(size, lax.full_like(x, 8.0))) * _series(n, lax.clamp(-8.0, x, 8.0))
        return dnp.where(size < 8.0, near, far)

    return bessel


@fused()
def i0e(x: ArrayLike) -> Array:
    """``exp(-abs(x)) * i0(x)``."""
    return evaluate("i0e", scaled(0), x)


@fused()
def i1e(x: ArrayLike) -> Array:
    """``exp(-abs(x)) * i1(x)``."""
    return evaluate("i1e", scaled(1), x)


@fused()
def i0(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind of order 0."""
    return evaluate("i0", modified(0), x)


@fused()
def i1(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind of order 1."""
    return evaluate("i1", modified(1), x)
