"""The regularised incomplete gamma functions."""

from __future__ import annotations

import dovetail_lax as lax
from dovetail_jit import fused

from .evaluation import Array, ArrayLike, evaluate


@fused()
def gammainc(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularised lower incomplete gamma function."""
    return evaluate("gammainc", lax.igamma, a, x)


@fused()
def gammaincc(a: ArrayLike, x: ArrayLike) -> Array:
    """The regularised upper incomplete gamma function ``1 - gammainc(a, x)``."""
    return evaluate("gammaincc", lax.igammac, a, x)
