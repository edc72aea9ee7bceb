"""Bessel functions of the first kind, modified and not, of integer order and real argument."""

from __future__ import annotations

from math import factorial, pi
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.arguments import integer
from dovetail_core import cached, here
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


_RESCALED = 1e15


def bessel_jn(z: ArrayLike, *, v: int, n_iter: int = 50) -> Array:
    """The Bessel functions of the first kind of orders 0 to ``v``, for ``z`` of any size.

    Args:
        z: an array of real numbers.
        v: the highest order, an integer.
        n_iter: the least order from which the recurrence runs downwards; ``2 * v + 50`` if that is
            more. For ``z`` beyond half of it Hankel's expansion is used, so that the result hardly
            depends on it.

    Returns: an array of shape ``(v + 1, *z.shape)``.

    Raises:
        TypeError: ``v`` or ``n_iter`` is no integer.
        ValueError: ``v`` is negative, or ``n_iter`` not positive.
    """
    order, steps = integer("bessel_jn: v", v), integer("bessel_jn: n_iter", n_iter)
    if order < 0 or steps < 1:
        raise ValueError(
            f"bessel_jn: v must not be negative and n_iter must be positive, got v={order} and "
            f"n_iter={steps}{here()}"
        )
    return _bessel_jn(z, v=order, start=max(steps, 2 * order + 50))


@fused(static=("v", "start"))
def _bessel_jn(z: Any, *, v: int, start: int) -> Any:
    return evaluate("bessel_jn", _orders(v, start), z)


@cached
def _orders(v: int, start: int) -> Any:
    """J0 to Jv, with the derivatives (J(n-1) - J(n+1))/2."""

    def slope(out: Any, x: Any) -> Any:
        values = _orders(v + 1, start + 2)(x)
        first = -values[1:2]
        return first if v == 0 else dnp.concatenate([first, 0.5 * (values[:v] - values[2:])])

    @differentiable(slope)
    def bessel(x: Any) -> Any:
        size = lax.abs(x)
        small, far = size < 1.0, size > start / 2
        middle = _miller(v, start, dnp.where(dnp.logical_or(small, far), 2.0, size))
        low = dnp.where(small, size, 0.5)
        above = _forward(v, dnp.where(far, size, 100.0))
        values = []
        for n in range(v + 1):
            value = dnp.where(far, above[n], dnp.where(small, _power_series(n, low), middle[n]))
            value = dnp.where(size == np.inf, 0.0, dnp.where(x != x, x, value))
            values.append(dnp.where(x < 0, -value, value) if n % 2 else value)
        return dnp.stack(values)

    return bessel


def _power_series(n: int, x: Any) -> Any:
    """Jn(x) for 0 <= x < 1, DLMF 10.2.2."""
    terms = [(-1) ** k * factorial(n) / (factorial(k) * factorial(k + n)) for k in range(10)]
    out = horner(0.25 * x * x, terms)
    for k in range(1, n + 1):
        out = out * (x * (0.5 / k))
    return out


def _miller(v: int, start: int, x: Any) -> list[Any]:
    """J0 to Jv by the recurrence downwards from order ``start``, where J0 + 2 J2 + 2 J4 + ... = 1.

    Values are scaled down when they have grown, and the number of times is counted.
    """
    twice = 2.0 / x

    def step(k: Any, state: Any) -> Any:
        lower, upper, total, count = state
        order = lax.convert_element_type(k, x.dtype)
        lower, upper = order * twice * lower - upper, lower
        even = order - 2.0 * lax.floor(order * 0.5) == 1  # the parity of order - 1
        total = total + dnp.where(even, 2.0 * lower, 0.0)
        large = lax.abs(lower) > _RESCALED
        factor = dnp.where(large, 1 / _RESCALED, 1.0)
        count = count + dnp.where(large, 1.0, 0.0)
        return lower * factor, upper * factor, total * factor, count

    zero = lax.full_like(x, 0.0)
    state = (lax.full_like(x, 1e-15), zero, zero, zero)
    state = lax.fori_loop(0, start - v, lambda i, s: step(start - i, s), state)
    values_and_counts = [(state[0], state[3])]
    for k in range(v, 0, -1):
        state = step(k, state)
        values_and_counts.append((state[0], state[3]))
    total = state[2] - state[0]
    scale = lax.full_like(x, 1 / _RESCALED)
    return [
        value / total * lax.pow(scale, state[3] - count)
        for value, count in reversed(values_and_counts)
    ]


def _forward(v: int, x: Any) -> list[Any]:
    """J0 to Jv for x >= 25 and v < x: Hankel's expansion, DLMF 10.17.3, and 10.6.1 upwards."""
    inverse = 1.0 / x
    cosine, sine = lax.cos(x), lax.sin(x)
    size = lax.sqrt(inverse * (1 / pi))
    result = []
    for n in (0, 1):
        terms = [1.0]
        for k in range(1, 12 if is_single(x) else 26):
            terms.append(terms[-1] * (4 * n * n - (2 * k - 1) ** 2) / (8 * k))
        square = inverse * inverse
        p = horner(square, [(-1) ** k * a for k, a in enumerate(terms[::2])])
        q = inverse * horner(square, [(-1) ** k * a for k, a in enumerate(terms[1::2])])
        even, odd = (cosine + sine, sine - cosine) if n == 0 else (sine - cosine, -cosine - sine)
        result.append(size * (p * even - q * odd))
    for n in range(1, v):
        result.append((2.0 * n) * inverse * result[n] - result[n - 1])
    return result[: v + 1]
