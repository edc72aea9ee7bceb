"""The gamma function, its logarithm and its sign, of real arguments.

With n the integer next to x - 2, and u = x - 2 - n in [-1/2, 1/2], Γ(x) is Γ(2 + u) times or
divided by |n| factors; Γ(2 + u), and log Γ(2 + u)/u, which has no zero, are series of Chebyshev
polynomials. Stirling's formula, DLMF 5.11.1, is used beyond 8.5, and below -1/2 the reflection
Γ(x) Γ(-x) = -π/(x sin πx), where -x is not rounded.
"""

from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.arguments import integer
from dovetail_jit import fused

from ..coefficients import GAMMA, LOG_GAMMA, STIRLING
from ..evaluation import Array, ArrayLike, differentiable, evaluate
from ..series import between, chebyshev, is_single, log1p
from .hurwitz import digamma_kernel

LARGE = 8.5
"""The argument from which Stirling's formula is used."""
_STEPS = 6


def stirling_rest(x: Any) -> Any:
    """``log Γ(x) - (x - 1/2) log(x) + x - log(2π)/2`` for x >= 8, about 1/(12 x)."""
    inverse = 1.0 / dnp.where(x < 8.0, 8.0, x)  # not max, whose derivative in 8 is a half
    return chebyshev(between(inverse * inverse, 0.0, 1 / 64), STIRLING) * inverse


def sin_pi(x: Any) -> Any:
    """``sin(πx)``, exactly 0 at integers."""
    nearest = lax.round(x)
    sine = lax.sin((x - nearest) * pi)
    odd = lax.abs(nearest - 2.0 * lax.round(nearest * 0.5)) == 1
    return dnp.where(odd, -sine, sine)


def _parted(x: Any) -> tuple[Any, Any, Any]:
    """x between -1/2 and 8.5 as u in [-1/2, 1/2] and numbers whose quotient is Γ(x)/Γ(2 + u)."""
    x = lax.clamp(-0.5, x, LARGE)
    n = lax.floor(x - 1.5)
    u = x - (n + 2.0)
    above = lax.full_like(x, 1.0)
    for k in range(1, _STEPS + 1):
        above = above * dnp.where(n >= k, x - float(k), 1.0)
    below = dnp.where(n == -2, x * (1.0 + x), dnp.where(n == -1, x, 1.0))
    return u, above, below


@differentiable(lambda out, x: digamma_kernel(x))
def gammaln_kernel(x: Any) -> Any:
    """``log |Γ(x)|``."""
    mirrored = x < -0.5
    z = dnp.where(mirrored, -x, x)
    u, above, below = _parted(z)
    base = u * chebyshev(2.0 * u, LOG_GAMMA)
    # For x in [1/2, 3/2] the logarithm is that of 1 + u, which the sum would round.
    middle = dnp.logical_and(z >= 0.5, z < 1.5)
    product = dnp.where(
        middle, -log1p(dnp.where(middle, z - 1.0, 0.0)), lax.log(lax.abs(above / below))
    )
    large = dnp.where(z < LARGE, LARGE, z)
    far = (large - 0.5) * (lax.log(large) - 1.0) + (0.5 * log(2 * pi) - 0.5) + stirling_rest(large)
    value = dnp.where(z >= LARGE, far, base + product)
    value = dnp.where(x == np.inf, np.inf, value)
    if not is_single(x):
        value = dnp.where(z > 1e300, z * (lax.log(large) - 1.0), value)
    sine = lax.abs(z * sin_pi(z))
    value = dnp.where(mirrored, log(pi) - lax.log(sine) - value, dnp.where(x != x, x, value))
    return dnp.where(x == -np.inf, np.inf, value)


@fused()
def gammaln(x: ArrayLike) -> Array:
    """The logarithm of the gamma function's absolute value; its derivative is :func:`digamma`.

    It is infinite at 0 and at negative integers. Near its zeros at negative numbers the error is
    small in comparison with 1, but not with the result.
    """
    return evaluate("gammaln", gammaln_kernel, x)


def gamma_sign(x: Any) -> Any:
    """The sign of Γ(x)."""
    below = lax.floor(x)
    odd = below - 2.0 * lax.floor(below * 0.5) != 0
    sign = dnp.where(dnp.logical_and(x < 0, odd), -1.0, 1.0)
    sign = dnp.where(x == 0, dnp.copysign(1.0, x), sign)
    undefined = dnp.logical_or(dnp.logical_and(x < 0, below == x), x != x)
    return lax.stop_gradient(dnp.where(undefined, np.nan, sign)).astype(x.dtype)


@fused()
def gammasgn(x: ArrayLike) -> Array:
    """The sign of the gamma function: NaN at its poles and minus infinity, that of ``x`` at 0.

    Its derivative is 0.
    """
    return evaluate("gammasgn", gamma_sign, x)


def small_gamma(x: Any) -> Any:
    """Γ(x) for -1/2 < x < 8.5."""
    u, above, below = _parted(x)
    return chebyshev(2.0 * u, GAMMA) * above / below


def _positive_gamma(x: Any) -> Any:
    """Γ(x) for x > -1/2."""
    near = small_gamma(x)
    # x^(x-1/2) overflows before Γ(x) does, its square root does not.
    large = lax.clamp(LARGE, x, 40.0 if is_single(x) else 200.0)
    root = lax.pow(large, (large - 0.5) * 0.5)
    far = root * (lax.exp(-large) * (sqrt(2 * pi) * lax.exp(stirling_rest(large)))) * root
    return dnp.where(x >= LARGE, far, near)


@differentiable(lambda out, x: out * digamma_kernel(x))
def gamma_kernel(x: Any) -> Any:
    """Γ(x)."""
    mirrored = x < -0.5
    value = _positive_gamma(dnp.where(mirrored, -x, x))
    sine = sin_pi(x)
    value = dnp.where(mirrored, -pi / (x * sine * value), value)
    pole = dnp.logical_or(dnp.logical_and(x < 0, lax.floor(x) == x), x != x)
    value = dnp.where(x == 0, 1.0 / x, dnp.where(pole, np.nan, value))
    return dnp.where(x == np.inf, np.inf, value)


def multigammaln(a: ArrayLike, d: int) -> Array:
    """The logarithm of the multivariate gamma function of dimension ``d``.

    That is ``d * (d - 1) / 4 * log(pi)`` plus the sum of ``gammaln(a - i / 2)`` for ``i < d``.

    Raises:
        TypeError: ``d`` is not an integer known while tracing.
    """
    return _multigammaln(a, d=integer("multigammaln: d", d))


@fused(static=("d",))
def _multigammaln(a: Any, *, d: int) -> Any:
    def value(a: Any) -> Any:
        out = lax.full_like(a, d * (d - 1) / 4 * log(pi))
        for i in range(d):
            out = out + gammaln_kernel(a - i / 2)
        return out

    return evaluate("multigammaln", value, a)
