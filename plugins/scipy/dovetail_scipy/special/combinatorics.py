"""Factorials, binomial coefficients, rising factorials."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import here
from dovetail_jit import fused

from .evaluation import Array, ArrayLike, evaluate
from .gamma_functions import gamma_kernel, gamma_sign


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


def _factorial_kernel(n: Any) -> Any:
    """Γ(n + 1), as n Γ(n) where the sum would be rounded."""
    tall = n > 1
    value = dnp.where(tall, n, 1.0) * gamma_kernel(dnp.where(tall, n, dnp.where(n < 0, 1.0, n + 1.0)))
    return dnp.where(n < 0, 0.0, value)


def comb(N: ArrayLike, k: ArrayLike, *, repetition: bool = False) -> Array:
    """The number of ways to choose ``k`` of ``N`` things, as a floating-point number.

    Args:
        repetition: whether a thing may be chosen several times.

    Returns: 0 where ``N < 0``, ``k < 0``, or ``k > N`` without repetition.
    """
    return _comb(N, k, repetition=bool(repetition))


@fused(static=("repetition",))
def _comb(N: Any, k: Any, *, repetition: bool) -> Any:
    def value(n: Any, k: Any) -> Any:
        valid = dnp.logical_and(n >= 0, k >= 0)
        if repetition:
            n = n + k - 1.0
        else:
            valid = dnp.logical_and(valid, k <= n)
        n, k = dnp.where(valid, n, 1.0), dnp.where(valid, k, 1.0)
        logs = lax.lgamma(n + 1.0) - lax.lgamma(k + 1.0) - lax.lgamma(n - k + 1.0)
        return dnp.where(valid, lax.exp(logs), 0.0)

    return evaluate("comb", value, N, k)


@fused()
def poch(z: ArrayLike, m: ArrayLike) -> Array:
    """The Pochhammer symbol ``gamma(z + m) / gamma(z)``, the rising factorial."""
    return evaluate("poch", _poch, z, m)


def _poch(z: Any, m: Any) -> Any:
    sign = gamma_sign(z + m) * gamma_sign(z)
    return dnp.where(m == 0, 1.0, sign * lax.exp(lax.lgamma(z + m) - lax.lgamma(z)))
