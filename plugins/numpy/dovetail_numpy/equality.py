"""Equality of arrays, exact or within tolerances."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import ExtendedDType

from .creation.arrays import as_array
from .creation.filled import full
from .fusion import fused, one_call
from .operands import Array, ArrayLike, operand
from .operations import strong
from .promotion import broadcast, convert, promote, promote_all
from .reductions.basic import all as every
from .ufuncs.comparisons import EQUAL, isfinite, isnan


@fused(static=("equal_nan",))
def _isclose(a: Any, b: Any, rtol: Any, atol: Any, equal_nan: bool) -> Any:
    close = lax.le(lax.abs(lax.sub(a, b)), lax.add(atol, lax.mul(rtol, lax.abs(b))))
    close = lax.bitwise_and(close, lax.bitwise_and(isfinite(a), isfinite(b)))
    same = lax.bitwise_or(close, lax.eq(a, b))  # infinities of one sign
    if equal_nan:
        same = lax.bitwise_or(same, lax.bitwise_and(isnan(a), isnan(b)))
    return strong(same)


@one_call("equal_nan")
def isclose(
    a: ArrayLike, b: ArrayLike, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Any:
    """True where ``abs(a - b) <= atol + rtol * abs(b)``; for keys, where they are equal."""
    if any(isinstance(getattr(v, "dtype", None), ExtendedDType) for v in (a, b)):
        return EQUAL(a, b)
    a, b = [as_array("isclose", v) for v in promote_all("isclose", a, b, inexact=True)]
    shape = a.shape or b.shape
    a, b = broadcast(a, shape), broadcast(b, shape)
    real = a.dtype if a.dtype.kind != "c" else np.dtype(f"f{a.dtype.itemsize // 2}")
    tolerances = [convert(operand("isclose", t, i), real) for i, t in ((2, rtol), (3, atol))]
    return _isclose(a, b, *tolerances, equal_nan=bool(equal_nan))


@one_call("equal_nan")
def allclose(
    a: ArrayLike, b: ArrayLike, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Array:
    """True if all elements are close (see :func:`isclose`)."""
    return every(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> Array:
    """True if two arrays have the same shape and elements; False if one is no array."""
    pair = _pair(a1, a2)
    if pair is None or pair[0].shape != pair[1].shape:
        return full((), False)
    a, b = pair
    same = EQUAL(a, b)
    if equal_nan and a.dtype.kind not in "biu":
        same = lax.bitwise_or(same, lax.bitwise_and(isnan(a), isnan(b)))
    return every(same)


def array_equiv(a1: ArrayLike, a2: ArrayLike) -> Array:
    """True if two arrays, broadcast together, have the same elements."""
    pair = _pair(a1, a2)
    if pair is None:
        return full((), False)
    try:
        shape = lax.broadcast_shapes(pair[0].shape, pair[1].shape)
    except ValueError:
        return full((), False)
    return every(EQUAL(*(broadcast(x, shape) for x in pair)))


def _pair(a1: Any, a2: Any) -> tuple[Any, Any] | None:
    from .creation.arrays import asarray

    try:
        values = [asarray(v) if isinstance(v, (list, tuple)) else v for v in (a1, a2)]
        a, b = promote("array_equal", *values)
    except (TypeError, ValueError):
        return None
    return as_array("array_equal", a), as_array("array_equal", b)
