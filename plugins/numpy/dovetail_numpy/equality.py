"""Whether whole arrays are equal, or nearly so."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax

from .creation.arrays import as_array
from .creation.filled import full
from .fusion import one_call
from .operands import Array, ArrayLike
from .promotion import broadcast, promote
from .reductions.basic import all as every
from .ufuncs.comparisons import EQUAL, isclose, isnan


@one_call("equal_nan")
def allclose(
    a: ArrayLike, b: ArrayLike, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Array:
    """Whether all elements are close (see :func:`isclose`)."""
    return every(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> Array:
    """Whether two arrays have the same shape and elements; False for what is no array."""
    pair = _pair(a1, a2)
    if pair is None or pair[0].shape != pair[1].shape:
        return full((), False)
    a, b = pair
    same = EQUAL(a, b)
    if equal_nan and a.dtype.kind not in "biu":
        same = lax.bitwise_or(same, lax.bitwise_and(isnan(a), isnan(b)))
    return every(same)


def array_equiv(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Whether two arrays, broadcast together, have the same elements."""
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
