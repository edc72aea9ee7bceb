"""Bessel functions."""

from __future__ import annotations

import dovetail_lax as lax
from dovetail_jit import fused

from .evaluation import Array, ArrayLike, evaluate


@fused()
def i0e(x: ArrayLike) -> Array:
    """``exp(-abs(x)) * i0(x)``."""
    return evaluate("i0e", lax.bessel_i0e, x)


@fused()
def i1e(x: ArrayLike) -> Array:
    """``exp(-abs(x)) * i1(x)``."""
    return evaluate("i1e", lax.bessel_i1e, x)


@fused()
def i0(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind of order 0."""
    return evaluate("i0", lambda x: lax.exp(abs(x)) * lax.bessel_i0e(x), x)


@fused()
def i1(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind of order 1."""
    return evaluate("i1", lambda x: lax.exp(abs(x)) * lax.bessel_i1e(x), x)
