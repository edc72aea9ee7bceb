"""The error function and its relatives, of real arguments."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
from dovetail_jit import fused

from .evaluation import Array, ArrayLike, evaluate


@fused()
def erf(x: ArrayLike) -> Array:
    """The error function, ``2/sqrt(pi)`` times the integral of ``exp(-t**2)`` from 0 to ``x``."""
    return evaluate("erf", lax.erf, x)


@fused()
def erfc(x: ArrayLike) -> Array:
    """The complementary error function ``1 - erf(x)``, without cancellation."""
    return evaluate("erfc", lax.erfc, x)


@fused()
def erfinv(x: ArrayLike) -> Array:
    """The inverse of :func:`erf`."""
    return evaluate("erfinv", lax.erf_inv, x)
