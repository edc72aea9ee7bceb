"""The beta function and the regularised incomplete beta function."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
from dovetail_jit import fused

from .evaluation import Array, ArrayLike, evaluate
from .gamma_functions import gamma_sign


@fused()
def betaln(a: ArrayLike, b: ArrayLike) -> Array:
    """The logarithm of the beta function's absolute value."""
    return evaluate("betaln", _betaln, a, b)


def _betaln(a: Any, b: Any) -> Any:
    return lax.lgamma(a) + lax.lgamma(b) - lax.lgamma(a + b)


@fused()
def beta(a: ArrayLike, b: ArrayLike) -> Array:
    """The beta function ``gamma(a) * gamma(b) / gamma(a + b)``."""
    return evaluate("beta", _beta, a, b)


def _beta(a: Any, b: Any) -> Any:
    return gamma_sign(a) * gamma_sign(b) * gamma_sign(a + b) * lax.exp(_betaln(a, b))


@fused()
def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The regularised incomplete beta function."""
    return evaluate("betainc", lax.betainc, a, b, x)
