"""Factorials, binomial coefficients, rising factorials."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import here
from dovetail_jit import fused

from .evaluation import Array, ArrayLike, differentiable, evaluate
from .gamma_family.beta_functions import beta_kernel, log_quotient
from .gamma_family.gamma_functions import gamma_kernel, gamma_sign, gammaln_kernel
from .gamma_family.hurwitz import digamma_kernel
from .series import epsilon, is_single, lost_in_sum


def _rounded(value: Any, *args: Any) -> Any:
    """``value`` rounded where the arguments are integers and it is small enough to be one."""
    integral = value < 1 / epsilon(value)
    for x in args:
        integral = dnp.logical_and(integral, lax.floor(x) == x)
    return dnp.where(integral, lax.round(value), value)


@differentiable(lambda out, n: out * digamma_kernel(dnp.where(n < 0, 1.0, n + 1.0)))
def _factorial_kernel(n: Any) -> Any:
    """Γ(n + 1), as n Γ(n) where the sum would be rounded."""
    tall = n > 1
    low = dnp.where(n < 0, 1.0, n + 1.0)
    value = dnp.where(tall, n, 1.0) * gamma_kernel(dnp.where(tall, n, low))
    return dnp.where(n < 0, 0.0, _rounded(value, n))


def factorial(n: ArrayLike, exact: bool = False) -> Array:
    """The factorial ``gamma(n + 1)`` as a floating-point number; 0 for negative ``n``.

    Raises:
        NotImplementedError: ``exact`` is true; arrays have no integers of any size.
    """
    if exact:
        raise NotImplementedError(
            f"factorial: exact=True is not supported{here()}: arrays have no integers of any size. "
            "Use math.factorial for a Python integer."
        )
    return _factorial(n)


@fused()
def _factorial(n: Any) -> Any:
    return evaluate("factorial", _factorial_kernel, n)


@differentiable(
    lambda out, n, k: out * (digamma_kernel(n + 1.0) - digamma_kernel(n - k + 1.0)),
    lambda out, n, k: out * (digamma_kernel(n - k + 1.0) - digamma_kernel(k + 1.0)),
)
def _binomial(n: Any, k: Any) -> Any:
    """1/((n + 1) B(n - k + 1, k + 1)) for 0 <= k <= n."""
    low, high = lax.min(k, n - k), lax.max(k, n - k)
    return _rounded(1.0 / ((n + 1.0) * beta_kernel(low + 1.0, high + 1.0)), n, k)


def comb(N: ArrayLike, k: ArrayLike, *, repetition: bool = False) -> Array:
    """The number of ways to choose ``k`` of ``N`` objects, as a floating-point number.

    It is exact for integers, as long as the type has all integers of its size.

    Args:
        repetition: whether an object may be chosen several times.

    Returns: 0 where ``N < 0``, ``k < 0``, or ``k > N`` without repetition.
    """
    return _comb(N, k, repetition=bool(repetition))


@fused(static=("repetition",))
def _comb(N: Any, k: Any, *, repetition: bool) -> Any:
    def value(n: Any, k: Any) -> Any:
        valid = dnp.logical_and(n >= 0, k >= 0)
        empty = dnp.logical_and(n == 0, k == 0)
        if repetition:
            valid = dnp.logical_and(valid, dnp.logical_or(n > 0, k == 0))
            n = dnp.where(empty, 0.0, n + k - 1.0)
        else:
            valid = dnp.logical_and(valid, k <= n)
        chosen = _binomial(dnp.where(valid, n, 1.0), dnp.where(valid, k, 1.0))
        undefined = dnp.logical_or(n != n, k != k)
        return dnp.where(valid, chosen, dnp.where(undefined, np.nan, 0.0))

    return evaluate("comb", value, N, k)


@fused()
def poch(z: ArrayLike, m: ArrayLike) -> Array:
    """The Pochhammer symbol ``gamma(z + m) / gamma(z)``, the rising factorial.

    At poles of both gamma functions it is the limit for integers ``m``.
    """
    return evaluate("poch", _poch, z, m)


def _poch_dz(out: Any, z: Any, m: Any) -> Any:
    return out * (digamma_kernel(z + m) - digamma_kernel(z))


@differentiable(_poch_dz, lambda out, z, m: out * digamma_kernel(z + m))
def _poch(z: Any, m: Any) -> Any:
    most = 34.0 if is_single(z) else 170.0
    end = z + m
    near = dnp.logical_and(lax.abs(z) < most, lax.abs(end) < most)
    last = dnp.where(near, end, 1.0)
    quotient = gamma_kernel(last) / gamma_kernel(dnp.where(near, z, 1.0))
    quotient = quotient * (1.0 + lost_in_sum(z, m, end) * digamma_kernel(last))
    # For large z, z^m is the leading factor.
    tall = dnp.logical_and(z >= 8.0, lax.abs(m) < 8.0)
    big = dnp.where(tall, z, 8.0)
    power = lax.pow(big, m) * lax.exp(-log_quotient(dnp.where(tall, m, 1.0), big))
    sign = gamma_sign(end) * gamma_sign(z)
    other = sign * lax.exp(gammaln_kernel(end) - gammaln_kernel(z))
    value = dnp.where(tall, power, dnp.where(near, quotient, other))
    pole = dnp.logical_and(z <= 0, lax.floor(z) == z)
    both = dnp.logical_and(pole, dnp.logical_and(end <= 0, lax.floor(end) == end))
    odd = m - 2.0 * lax.floor(m * 0.5) != 0
    upper, lower = dnp.where(both, 1.0 - z, 1.0), dnp.where(both, 1.0 - end, 1.0)
    limit = lax.round(lax.exp(gammaln_kernel(upper) - gammaln_kernel(lower)))
    value = dnp.where(both, dnp.where(odd, -limit, limit), dnp.where(pole, 0.0, value))
    return dnp.where(m == 0, 1.0, value)
