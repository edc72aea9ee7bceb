"""Searches: nonzero elements, positions in sorted arrays, bins."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.foreign import reword_errors
from dovetail_core import ConcretizationTypeError, Tracer, here

from ..creation import placement
from ..creation.arrays import as_array
from ..fusion import fused, one_call
from ..indexing.reading import Options
from ..indexing.taking import take_along
from ..operands import Array, ArrayLike, integer
from ..operations import number, reshape as to_shape, select, strong, truth
from ..promotion import INT32, convert, default_int, promote


def concrete_value(name: str, x: Any, remedy: str) -> np.ndarray[Any, Any]:
    """The value of an array argument that must not be traced.

    Raises:
        ConcretizationTypeError: it is traced.
    """
    value = x.concrete() if isinstance(x, Tracer) else x
    if value is None:
        raise ConcretizationTypeError(
            f"{name} of a traced array of type {x.aval.str_short()}{here()}: the size of the "
            f"result depends on its values, which are not known while tracing. {remedy}"
        )
    return np.asarray(value)


@reword_errors
def nonzero(a: ArrayLike, *, size: int | None = None, fill_value: Any = None) -> tuple[Array, ...]:
    """The indices of elements that are not zero: one vector per dimension.

    Args:
        size: the length of the vectors; needed while tracing. Longer results are cut off, shorter
            ones filled up.
        fill_value: the padding: a number, or one per dimension (default 0).

    Raises:
        ConcretizationTypeError: ``a`` is traced and ``size`` is not given.
        ValueError: ``a`` is a scalar.
    """
    a = as_array("nonzero", a)
    if not a.shape:
        raise ValueError(
            f"nonzero needs an array of at least one dimension; use atleast_1d{here()}"
        )
    if size is None:
        value = concrete_value("nonzero", a, "Give size=, the number of indices wanted.")
        result = np.nonzero(value)
        return tuple(placement.constant(i.astype(default_int())) for i in result)
    fills = fill_value if isinstance(fill_value, (tuple, list)) else (fill_value or 0,) * a.ndim
    if len(fills) != a.ndim:
        raise ValueError(f"nonzero: {len(fills)} fill values for {a.ndim} dimensions{here()}")
    fills = tuple(strong(convert(as_array("nonzero", f), default_int())) for f in fills)
    return tuple(_nonzero(a, *fills, size=integer("nonzero", "size", size), dtype=default_int()))


@fused(static=("size", "dtype"))
def _nonzero(a: Any, *fills: Any, size: int, dtype: Any) -> list[Any]:
    flat = truth(to_shape(a, (a.size,)))
    if not a.size or not size:
        return [lax.broadcast_in_dim(f, (size,), ()) for f in fills]
    counts = lax.cumsum(lax.convert_element_type(flat, INT32), axis=0)
    total = lax.squeeze(lax.slice_in_dim(counts, a.size - 1, a.size), (0,))
    # Element i of the result is the first index whose running count exceeds i: the number of
    # elements whose count is at most i.
    positions = lax.full((size,), 0, INT32)
    hits = lax.scatter_add(
        positions, to_shape(counts, (a.size, 1)), lax.full((a.size,), 1, INT32),
        lax.ScatterDimensionNumbers((), (0,), (0,)), mode="drop",
    )  # fmt: skip
    linear = lax.cumsum(hits, axis=0)
    in_bounds = lax.lt(lax.iota(INT32, size), total)
    out = []
    stride = a.size
    for n, fill in zip(a.shape, fills):
        stride //= n
        index = lax.rem(lax.div(linear, np.int32(stride)), np.int32(n))
        out.append(select(in_bounds, convert(index, dtype), fill))
    return out


@reword_errors
def flatnonzero(a: ArrayLike, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The indices of elements of the flattened array that are not zero (see :func:`nonzero`)."""
    a = as_array("flatnonzero", a)
    return nonzero(to_shape(a, (a.size,)), size=size, fill_value=fill_value)[0]


@reword_errors
def argwhere(a: ArrayLike, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The indices of elements that are not zero, one row for each (see :func:`nonzero`)."""
    a = as_array("argwhere", a)
    if not a.shape:
        rows = int(bool(concrete_value("argwhere", a, "Give size=."))) if size is None else size
        return lax.full((rows, 0), 0, default_int())
    return lax.stack(nonzero(a, size=size, fill_value=fill_value), axis=1)


@one_call("side", "method", shared=True)
def searchsorted(
    a: ArrayLike, v: ArrayLike, side: str = "left", sorter: ArrayLike | None = None, *,
    method: str = "scan",
) -> Array:  # fmt: skip
    """The indices at which elements of ``v`` would be inserted into the sorted vector ``a``.

    Args:
        side: ``"left"`` finds the first such index, ``"right"`` the last.
        sorter: indices that sort ``a``.
        method: ``"scan"`` or ``"scan_unrolled"`` (bisection), ``"sort"``, or ``"compare_all"``.

    Raises:
        ValueError: ``a`` is not a vector, or ``side`` or ``method`` is unknown.
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', got {side!r}{here()}")
    if method not in ("scan", "scan_unrolled", "sort", "compare_all", "default"):
        raise ValueError(
            "searchsorted: method must be 'scan', 'scan_unrolled', 'sort' or 'compare_all', got "
            f"{method!r}{here()}"
        )
    x, w = (as_array("searchsorted", p, i) for i, p in enumerate(promote("searchsorted", a, v)))
    if x.ndim != 1:
        raise ValueError(f"searchsorted: a must be a vector, got shape {x.shape}{here()}")
    if sorter is not None:
        x = take_along(x, as_array("searchsorted", sorter, 3), 0)
    if x.ndim != 1:
        raise ValueError(f"searchsorted: sorter must have one axis, got shape {x.shape}{here()}")
    if x.shape[0] == 0:
        return lax.full(w.shape, 0, INT32)
    if method in ("sort", "compare_all"):
        search = _by_sort if method == "sort" else _by_comparison
        return search(x, w, side=side, dtype=INT32)
    unrolled = method == "scan_unrolled"
    return _by_bisection(x, w, side=side, dtype=INT32, unrolled=unrolled)


_STEPS_IN_ONE = 4
"""A bisection of at most so many steps is unrolled: a loop would cost more."""


def _before(x: Any, v: Any, side: str) -> Any:
    """True where elements ``x`` come before ``v``; NaN comes after all numbers."""
    from ..ufuncs.comparisons import LESS, LESS_EQUAL, isnan

    if x.dtype.kind == "c":
        return _complex_before(x, v, side)
    less = LESS(x, v) if side == "left" else LESS_EQUAL(x, v)
    if x.dtype.kind in "biu":
        return less
    if side == "left":
        return lax.bitwise_or(less, lax.bitwise_and(isnan(v), lax.bitwise_not(isnan(x))))
    return lax.bitwise_or(less, isnan(v))


def _complex_before(x: Any, v: Any, side: str) -> Any:
    """:func:`_before` for complex numbers, whose order is first by which parts are NaN."""

    def keys(z: Any) -> list[Any]:
        parts = lax.real(z), lax.imag(z)
        first, second = (lax.convert_element_type(lax.ne(p, p), np.int32) for p in parts)
        values = [select(lax.ne(p, p), number(p, 0), p) for p in parts]
        return [lax.add(lax.add(first, first), second), *values]

    pairs = list(zip(keys(x), keys(v)))
    before = (lax.lt if side == "left" else lax.le)(*pairs.pop())
    for a, b in reversed(pairs):
        before = lax.bitwise_or(lax.lt(a, b), lax.bitwise_and(lax.eq(a, b), before))
    return before


@fused(static=("side", "dtype"))
def _by_comparison(x: Any, v: Any, side: str, dtype: Any) -> Any:
    shape = (x.shape[0], *v.shape)
    first = lax.broadcast_in_dim(x, shape, (0,))
    before = _before(first, lax.broadcast_in_dim(v, shape, range(1, len(shape))), side)
    return lax.reduce_sum_p.bind(lax.convert_element_type(before, dtype), axes=(0,))


@fused(static=("side", "dtype"))
def _by_sort(x: Any, v: Any, side: str, dtype: Any) -> Any:
    flat = lax.reshape(v, (v.size,))
    joined = [x, flat] if side == "right" else [flat, x]
    values = lax.concatenate(joined, 0)
    order = lax.sort((values, lax.iota(dtype, values.size)), num_keys=1)[1]
    rank = lax.scatter(
        lax.full((values.size,), 0, dtype), lax.reshape(order, (values.size, 1)),
        lax.iota(dtype, values.size), lax.ScatterDimensionNumbers((), (0,), (0,)),
        unique_indices=True,
    )  # fmt: skip
    start = x.shape[0] if side == "right" else 0
    mine = lax.slice_in_dim(rank, start, start + flat.size)
    # A rank also counts the elements of v that come before: their number is its rank within v.
    own = lax.sort((flat, lax.iota(dtype, flat.size)), num_keys=1)[1]
    own = lax.scatter(
        lax.full((flat.size,), 0, dtype), lax.reshape(own, (flat.size, 1)),
        lax.iota(dtype, flat.size), lax.ScatterDimensionNumbers((), (0,), (0,)),
        unique_indices=True,
    )  # fmt: skip
    return lax.reshape(lax.sub(mine, own), v.shape)


@fused(static=("side", "dtype", "unrolled"))
def _by_bisection(x: Any, v: Any, side: str, dtype: Any, unrolled: bool) -> Any:
    """All elements at once: the interval halves until it is empty, in a fixed number of steps."""
    size = x.shape[0]
    # In a fusion of several steps, XLA would recompute common parts.
    steps = size.bit_length()
    unrolled |= steps <= _STEPS_IN_ONE
    at_once = Options("promise_in_bounds", wrap=False)

    def halve(_: Any, ends: Any) -> Any:
        low, high = ends
        middle = lax.div(lax.add(low, high), np.int32(2))
        probe = take_along(x, lax.min(np.int32(size - 1), middle), 0, at_once)
        right = lax.bitwise_and(_before(probe, v, side), lax.lt(low, high))
        low = select(right, lax.add(middle, np.int32(1)), low)
        return low, select(right, high, middle)

    ends = lax.full_like(v, 0, INT32), lax.full_like(v, size, INT32)
    return convert(lax.fori_loop(0, steps, halve, ends, unroll=unrolled or None)[0], dtype)


@one_call("right", "method")
def digitize(
    x: ArrayLike, bins: ArrayLike, right: bool = False, *, method: str | None = None
) -> Array:
    """The number of the bin of each element; ``bins`` are edges in rising or falling order.

    Args:
        right: whether the right edge belongs to a bin.

    Raises:
        ValueError: ``bins`` is not a vector.
    """
    b = as_array("digitize", bins, 1)
    if b.ndim != 1:
        raise ValueError(f"digitize: bins must be a vector, got shape {b.shape}{here()}")
    x = as_array("digitize", x)
    method = method or "scan"
    if b.shape[0] == 0:
        return lax.full(x.shape, 0, INT32)
    side = "left" if right else "right"
    rising = searchsorted(b, x, side, method=method)
    falling = searchsorted(lax.rev(b, (0,)), x, side, method=method)
    n = number(rising, b.shape[0])
    ends = [lax.index_in_dim(b, i, 0, keepdims=False) for i in (b.shape[0] - 1, 0)]
    return select(lax.ge(*ends), rising, lax.sub(n, falling))
