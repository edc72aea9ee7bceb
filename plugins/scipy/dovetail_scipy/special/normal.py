"""The normal distribution function, its logarithm and its inverse."""

from __future__ import annotations

from math import sqrt
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import here
from dovetail_core.base.arguments import integer
from dovetail_jit import fused

from .evaluation import Array, ArrayLike, evaluate


@fused()
def ndtr(x: ArrayLike) -> Array:
    """The normal distribution function: the probability of a value below ``x``."""
    return evaluate("ndtr", _ndtr, x)


def _ndtr(x: Any) -> Any:
    return 0.5 * lax.erfc(x * -sqrt(0.5))


@fused()
def ndtri(p: ArrayLike) -> Array:
    """The inverse of :func:`ndtr`; infinite at 0 and 1, NaN beyond."""
    return evaluate("ndtri", lambda p: sqrt(2) * lax.erf_inv(2.0 * p - 1.0), p)


def log_ndtr(x: ArrayLike, series_order: int = 3) -> Array:
    """The logarithm of :func:`ndtr`, accurately in both tails.

    Args:
        series_order: accepted for the sake of JAX's programs, 0 to 30; the result is accurate
            whatever it is.

    Raises:
        TypeError: ``series_order`` is no integer.
        ValueError: it is negative or greater than 30.
    """
    order = integer("log_ndtr: series_order", series_order)
    if not 0 <= order <= 30:
        raise ValueError(f"log_ndtr: series_order must be from 0 to 30, got {order}{here()}")
    return _log_ndtr(x)


@fused()
def _log_ndtr(x: Any) -> Any:
    return evaluate("log_ndtr", lambda x: dnp.log(_ndtr(x)), x)
