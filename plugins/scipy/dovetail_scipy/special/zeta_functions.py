"""The zeta function of Hurwitz and Riemann; digamma and polygamma functions."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.arguments import integer
from dovetail_core import cached, here
from dovetail_jit import fused

from .evaluation import Array, ArrayLike, differentiable, evaluate
from .gamma_family.gamma_functions import gamma_kernel, gammaln_kernel, sin_pi
from .gamma_family.hurwitz import digamma_kernel, euler_maclaurin, hurwitz
from .series import is_single


def zeta(x: ArrayLike, q: ArrayLike | None = None) -> Array:
    """The zeta function of Hurwitz, the sum of ``(n + q)**-x`` over n = 0, 1, ...

    It is NaN for ``x < 1``, infinite for ``x = 1`` and at integers ``q <= 0``, and NaN for other
    negative ``q`` unless ``x`` is an integer. It has all derivatives in both arguments, for
    positive ``q``.

    Args:
        q: None for the zeta function of Riemann, ``q = 1``, which is defined for all ``x`` but 1.
    """
    return _riemann(x) if q is None else _hurwitz(x, q)


@fused()
def _hurwitz(x: Any, q: Any) -> Any:
    return evaluate("zeta", hurwitz, x, q)


@fused()
def _riemann(x: Any) -> Any:
    return evaluate("zeta", _riemann_kernel, x)


def _riemann_kernel(s: Any) -> Any:
    """ζ(s), for s < 0 by the reflection ζ(s) = 2 (2π)^(s-1) sin(πs/2) Γ(1 - s) ζ(1 - s)."""
    mirrored = s < 0
    z = dnp.where(mirrored, 1.0 - s, s)
    regular = dnp.logical_and(z != 1, z < np.inf)
    value = euler_maclaurin(dnp.where(regular, z, 2.0), lax.full_like(s, 1.0))
    value = dnp.where(regular, value, dnp.where(z == 1, np.inf, dnp.where(z > 1, 1.0, np.nan)))
    half = lax.pow(lax.full_like(s, 2 * pi), dnp.where(mirrored, -z * 0.5, 0.0))
    factor = 2.0 * half * gamma_kernel(dnp.where(mirrored, z, 1.0)) * half
    return dnp.where(mirrored, sin_pi(s * 0.5) * factor * value, value)


@fused()
def digamma(x: ArrayLike) -> Array:
    """The derivative of :func:`gammaln`.

    NaN at negative integers and minus infinity, infinite at 0, with the sign of ``-x``.
    """
    return evaluate("digamma", digamma_kernel, x)


def _polygamma_dx(out: Any, n: Any, x: Any) -> Any:
    return polygamma_kernel(n + 1.0, x)


@differentiable(
    "polygamma has no derivative in its order n. If that is constant, pass it through "
    "lax.stop_gradient",
    _polygamma_dx,
)
def polygamma_kernel(n: Any, x: Any) -> Any:
    """The n-th derivative of digamma, (-1)^(n+1) n! ζ(n + 1, x)."""
    order = dnp.where(n > 0, n, 1.0)
    zeta = hurwitz(order + 1.0, x)
    large = order > (30.0 if is_single(x) else 150.0)
    direct = gamma_kernel(dnp.where(large, 1.0, order) + 1.0) * zeta
    positive = dnp.where(dnp.logical_and(large, zeta > 0), zeta, 1.0)
    tall = lax.exp(gammaln_kernel(order + 1.0) + lax.log(positive))
    # Where the zeta function underflows, it is near its first term.
    base = dnp.where(dnp.logical_and(large, x > 0), x, 1.0)
    first = lax.exp(gammaln_kernel(order + 1.0) - (order + 1.0) * lax.log(base))
    tall = dnp.where(zeta > 0, tall, dnp.where(zeta == 0, first, zeta))
    odd = order - 2.0 * lax.floor(order * 0.5) != 0
    value = dnp.where(odd, 1.0, -1.0) * dnp.where(large, tall, direct)
    value = dnp.where(n == 0, digamma_kernel(x), value)
    return dnp.where(n < 0, np.nan, value)


@fused()
def polygamma(n: ArrayLike, x: ArrayLike) -> Array:
    """The ``n``-th derivative of :func:`digamma`, ``(-1)**(n + 1) * n! * zeta(n + 1, x)``.

    NaN for negative ``n``. It is differentiated in ``x``; ``n`` has no derivative.

    Raises:
        TypeError: ``n`` is not of integers.
    """
    n = dnp.asarray(n)
    if n.dtype.kind not in "iu":
        raise TypeError(
            f"polygamma: the order n must be of integers, got {n.dtype.name}{here()}. Convert it "
            "with astype(int)."
        )
    return evaluate("polygamma", polygamma_kernel, n, x)


@cached
def _numbers(n: int) -> tuple[float, ...]:
    """B(0) to B(n) from tangent numbers, which are integers (Brent and Harvey, 2011)."""
    half = n // 2
    tangent = [0, 1] + [0] * max(half - 1, 0)
    for k in range(2, half + 1):
        tangent[k] = (k - 1) * tangent[k - 1]
    for k in range(2, half + 1):
        for j in range(k, half + 1):
            tangent[j] = (j - k) * tangent[j - 1] + (j - k + 2) * tangent[j]
    result = [1.0, -0.5] + [0.0] * max(n - 1, 0)
    for k in range(1, half + 1):
        numerator, denominator = 2 * k * tangent[k], 4**k * (4**k - 1)
        try:
            size = numerator / denominator
        except OverflowError:
            size = float("inf")
        result[2 * k] = size if k % 2 else -size
    return tuple(result[: n + 1])


def bernoulli(n: int) -> Array:
    """The Bernoulli numbers B(0) to B(n), where B(1) is -1/2, correctly rounded.

    Returns: an array of ``n + 1`` numbers of the default floating-point type.

    Raises:
        TypeError: ``n`` is not an integer known while tracing.
        ValueError: ``n`` is negative.
    """
    n = integer("bernoulli: n", n)
    if n < 0:
        raise ValueError(f"bernoulli: n must not be negative, got {n}{here()}")
    return dnp.asarray(_numbers(n))
