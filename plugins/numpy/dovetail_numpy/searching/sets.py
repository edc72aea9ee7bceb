"""Sets of values: unique elements, membership, unions and differences."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

import dovetail_lax as lax
from dovetail_base.foreign import reword_errors
from dovetail_core import here

from ..creation.arrays import as_array
from ..fusion import fused, one_call
from ..operands import Array, ArrayLike, axis_index, integer
from ..operations import filled, number, reshape as to_shape, select, strong
from ..promotion import INT32, broadcast, convert, default_int, promote
from .finding import concrete_value

_REMEDY = "Give size=, the number of elements of the result."


class UniqueAll(NamedTuple):
    """Distinct values, their first indices, the indices that rebuild the array, their counts."""

    values: Any
    indices: Any
    inverse_indices: Any
    counts: Any


class UniqueCounts(NamedTuple):
    """Distinct values and their counts."""

    values: Any
    counts: Any


class UniqueInverse(NamedTuple):
    """Distinct values, and the indices that rebuild the array from them."""

    values: Any
    inverse_indices: Any


@reword_errors
def unique(
    ar: ArrayLike, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, axis: int | None = None, *, equal_nan: bool = True,
    size: int | None = None, fill_value: Any = None, sorted: bool = True,
) -> Any:  # fmt: skip
    """The distinct elements in increasing order, or distinct slices along ``axis``.

    Args:
        return_index: also return the index at which each first occurs. return_inverse: also, for
            each element, its index among the distinct ones. return_counts: also their counts.
        size: the number of elements of the result; needed while tracing. If there are fewer, it is
            filled up with ``fill_value``, by default the least.

    Raises:
        ConcretizationTypeError: ``ar`` is traced and ``size`` is not given.
        ValueError: there is no element to fill ``size`` up with, nor a ``fill_value``.
    """
    a = as_array("unique", ar)
    shape = a.shape
    if not a.size and size and fill_value is None:
        raise ValueError(
            f"unique: an array of shape {shape} has no elements to make {size} of{here()}. Give a "
            "fill_value."
        )
    if axis is None:
        rows, axis = to_shape(a, (a.size, 1)), None
    else:
        axis = axis_index("unique", axis, a.ndim)
        moved = lax.transpose(a, (axis, *(i for i in range(a.ndim) if i != axis)))
        rows = to_shape(moved, (moved.shape[0], moved.size // max(1, moved.shape[0])))
    order, first, rank, total = _ranked(rows, equal_nan=bool(equal_nan))
    count = (
        int(concrete_value("unique", total, _REMEDY))
        if size is None
        else integer("unique", "size", size)
    )
    at = _first_positions(order, first, rank, count)
    if fill_value is not None and axis is not None:
        fill_value = _fill_row(fill_value, shape[:axis] + shape[axis + 1 :])
    filled = _values(rows, at, total, count, fill_value)
    values = _restored(filled, shape, axis, count)
    extra = [at] if return_index else []
    if return_inverse:
        extra.append(_inverse(order, rank, shape, axis))
    if return_counts:
        extra.append(_counts(rank, count))
    return (values, *extra) if extra else values


@fused(static=("equal_nan",))
def _ranked(rows: Any, equal_nan: bool) -> tuple[Any, ...]:
    """The order that sorts rows; for each sorted row, whether it differs from the one before, and
    its index among the distinct rows; the number of distinct rows."""
    n, m = rows.shape
    positions = lax.iota(default_int(), n)
    if n == 0 or m == 0:
        rank = lax.full((n,), 0, default_int())
        first = lax.eq(positions, number(positions, 0))
        return positions, first, rank, lax.full((), min(n, 1), default_int())
    columns = [lax.index_in_dim(rows, i, 1, keepdims=False) for i in range(m)]
    *ordered, order = lax.sort((*columns, positions), dimension=0, is_stable=True, num_keys=m)
    new = None
    for c in ordered:
        later, earlier = lax.slice_in_dim(c, 1, n), lax.slice_in_dim(c, 0, n - 1)
        differs = lax.ne(later, earlier)
        if equal_nan and c.dtype.kind not in "biu":
            both = lax.bitwise_and(lax.ne(later, later), lax.ne(earlier, earlier))
            differs = lax.bitwise_and(differs, lax.bitwise_not(both))
        new = differs if new is None else lax.bitwise_or(new, differs)
    first = lax.concatenate([lax.full((1,), True), new], 0)
    rank = lax.cumsum(lax.convert_element_type(first, default_int()), axis=0)
    total = lax.index_in_dim(rank, n - 1, 0, keepdims=False)
    return order, first, lax.sub(rank, number(rank, 1)), total


_ONTO_FIRST = lax.ScatterDimensionNumbers((), (0,), (0,))


def _first_positions(order: Any, first: Any, rank: Any, count: int) -> Any:
    """The first index of each distinct row, followed by that of the least row."""
    n = order.shape[0]
    if not n:
        return lax.full((count,), 0, order.dtype)
    into = select(first, rank, number(rank, count))
    unknown = lax.full((count,), n, order.dtype)
    at = lax.scatter(unknown, lax.reshape(into, (n, 1)), order, _ONTO_FIRST, mode="drop")
    least = lax.index_in_dim(order, 0, 0, keepdims=False)
    return select(lax.eq(at, number(at, n)), least, at)


def _counts(rank: Any, count: int) -> Any:
    """The number of occurrences of each distinct row."""
    n = rank.shape[0]
    none, one = lax.full((count,), 0, rank.dtype), lax.full((n,), 1, rank.dtype)
    return lax.scatter_add(none, lax.reshape(rank, (n, 1)), one, _ONTO_FIRST, mode="drop")


def _fill_row(value: Any, shape: tuple[int, ...]) -> Any:
    """The fill value of one slice of ``shape``, as a row."""
    fill = as_array("unique", value)
    return lax.reshape(broadcast(fill, shape), (prod(shape),)) if fill.ndim else fill


def _values(rows: Any, at: Any, total: Any, count: int, fill_value: Any) -> Any:
    from ..indexing.taking import take_along

    if not rows.shape[0] or not count:
        if np.ndim(fill_value):
            return broadcast(convert(fill_value, rows.dtype), (count, rows.shape[1]))
        return filled(rows, (count, rows.shape[1]), 0 if fill_value is None else fill_value)
    values = take_along(rows, at, 0)
    if fill_value is None:
        return values
    in_bounds = lax.lt(lax.iota(total.dtype, count), total)
    fill = convert(as_array("unique", fill_value), rows.dtype)
    fill = broadcast(fill, values.shape) if fill.ndim else fill
    return select(lax.broadcast_in_dim(in_bounds, values.shape, (0,)), values, fill)


def _restored(values: Any, shape: tuple[int, ...], axis: int | None, count: int) -> Any:
    if axis is None:
        return lax.reshape(values, (count,))
    rest = shape[:axis] + shape[axis + 1 :]
    out = lax.reshape(values, (count, *rest))
    return lax.transpose(out, (*range(1, axis + 1), 0, *range(axis + 1, len(shape))))


def _inverse(order: Any, rank: Any, shape: tuple[int, ...], axis: int | None) -> Any:
    n = order.shape[0]
    out = lax.scatter(
        lax.full((n,), 0, rank.dtype), lax.reshape(order, (n, 1)), rank, _ONTO_FIRST,
        unique_indices=True,
    )  # fmt: skip
    return lax.reshape(out, shape) if axis is None else out


@reword_errors
def unique_all(x: ArrayLike, /, *, size: int | None = None, fill_value: Any = None) -> UniqueAll:
    """Distinct values with their first indices, the inverse and counts (see :func:`unique`)."""
    return UniqueAll(
        *unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value)
    )


@reword_errors
def unique_counts(
    x: ArrayLike, /, *, size: int | None = None, fill_value: Any = None
) -> UniqueCounts:
    """Distinct values and their counts."""
    out = unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value)
    return UniqueCounts(*out)


@reword_errors
def unique_inverse(
    x: ArrayLike, /, *, size: int | None = None, fill_value: Any = None
) -> UniqueInverse:
    """Distinct values and, for each element, its index among them."""
    out = unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value)
    return UniqueInverse(*out)


@reword_errors
def unique_values(x: ArrayLike, /, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Distinct values."""
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


@reword_errors
def isin(
    element: ArrayLike, test_elements: ArrayLike, assume_unique: bool = False,
    invert: bool = False, *, method: str = "auto",
) -> Array:  # fmt: skip
    """True where an element occurs among ``test_elements``; with ``invert``, where it does not.

    ``method``, one of ``"auto"``, ``"compare_all"``, ``"binary_search"`` and ``"sort"``, has no
    effect: the method is chosen by dtype and size.

    Raises:
        ValueError: the method is unknown.
    """
    if method not in ("auto", "compare_all", "binary_search", "sort"):
        raise ValueError(
            f"isin: method must be 'auto', 'compare_all', 'binary_search' or "
            f"'sort', got {method!r}{here()}"
        )
    a, b = (as_array("isin", v, i) for i, v in enumerate(promote("isin", element, test_elements)))
    return strong(_isin(a, b, invert=bool(invert)))


@fused(static=("invert",))
def _isin(a: Any, b: Any, invert: bool) -> Any:
    b = lax.reshape(b, (b.size,))
    if not b.size:
        return lax.full(a.shape, invert)
    from ..indexing.taking import take_along
    from .finding import searchsorted

    if a.dtype.kind == "b" or a.dtype.kind == "c" or b.size <= 16:
        full = (*a.shape, b.size)
        same = lax.eq(lax.broadcast_in_dim(a, full, range(a.ndim)),
                      lax.broadcast_in_dim(b, full, (a.ndim,)))  # fmt: skip
        result = lax.reduce_or(same, (a.ndim,))
    else:
        ordered = lax.sort(b)
        at = lax.min(convert(searchsorted(ordered, a), INT32), np.int32(b.size - 1))
        result = lax.eq(take_along(ordered, at, 0), a)
    return lax.bitwise_not(result) if invert else result


def _flat_pair(name: str, ar1: Any, ar2: Any) -> tuple[Any, Any]:
    a, b = (as_array(name, v, i) for i, v in enumerate(promote(name, ar1, ar2)))
    return lax.reshape(a, (a.size,)), lax.reshape(b, (b.size,))


@reword_errors
def union1d(
    ar1: ArrayLike, ar2: ArrayLike, *, size: int | None = None, fill_value: Any = None
) -> Array:
    """The distinct elements of two arrays."""
    return unique(lax.concatenate(_flat_pair("union1d", ar1, ar2), 0), size=size,
                  fill_value=fill_value)  # fmt: skip


@reword_errors
def setdiff1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, *, size: int | None = None,
    fill_value: Any = None,
) -> Array:  # fmt: skip
    """The distinct elements of ``ar1`` that ``ar2`` does not have."""
    a = as_array("setdiff1d", ar1)
    a = lax.reshape(a, (a.size,))
    absent = isin(a, as_array("setdiff1d", ar2, 1), invert=True)
    return _selected("setdiff1d", a, absent, assume_unique, size, fill_value)


def _selected(name: str, a: Any, keep: Any, in_order: bool, size: Any, fill_value: Any) -> Any:
    """The elements of ``a`` where ``keep``, distinct and sorted unless ``in_order``."""
    from ..indexing.taking import take_along
    from .finding import nonzero

    if size is None:
        concrete_value(name, keep, _REMEDY)
        (at,) = nonzero(keep)
        return take_along(a, at, 0) if in_order else unique(take_along(a, at, 0))
    if not in_order:
        order = _order(a)
        a, keep = take_along(a, order, 0), take_along(keep, order, 0)
        n = a.shape[0]
        same = lax.eq(lax.slice_in_dim(a, 1, n), lax.slice_in_dim(a, 0, max(n - 1, 0)))
        new = lax.concatenate([lax.full((min(n, 1),), True), lax.bitwise_not(same)], 0)
        keep = lax.bitwise_and(keep, new)
    fill = 0 if fill_value is None else fill_value
    n = a.shape[0]
    (at,) = nonzero(keep, size=size, fill_value=n)
    if fill_value is None and name != "setdiff1d" and at.size:  # filled up with the least element
        least = lax.broadcast_in_dim(lax.slice_in_dim(at, 0, 1), at.shape, (0,))
        at = select(lax.eq(at, number(at, n)), least, at)
    padded = lax.concatenate([a, lax.full((1,), convert(as_array(name, fill), a.dtype))], 0)
    return take_along(padded, at, 0)


def _order(a: Any) -> Any:
    from .sorting import argsort

    return argsort(a)


@reword_errors
def setxor1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, *, size: int | None = None,
    fill_value: Any = None,
) -> Array:  # fmt: skip
    """The distinct elements that exactly one of two arrays has."""
    a, b = _flat_pair("setxor1d", ar1, ar2)
    both = lax.concatenate([a, b], 0)
    keep = lax.concatenate([isin(a, b, invert=True), isin(b, a, invert=True)], 0)
    return _selected("setxor1d", both, keep, False, size, fill_value)


@reword_errors
def intersect1d(
    ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False, *,
    size: int | None = None, fill_value: Any = None,
) -> Any:  # fmt: skip
    """The distinct elements that both arrays have; with ``return_indices`` also their indices."""
    if size is not None:
        return _intersect1d(ar1, ar2, return_indices, size, fill_value)
    return _common(ar1, ar2, return_indices, None, fill_value)


def _common(ar1: Any, ar2: Any, return_indices: bool, size: int | None, fill_value: Any) -> Any:
    a, b = _flat_pair("intersect1d", ar1, ar2)
    values = _selected("intersect1d", a, isin(a, b), False, size, fill_value)
    if not return_indices:
        return values
    where = [_first_occurrences(v, values, s) for v, s in ((a, size), (b, size))]
    return (values, *where)


_intersect1d = one_call("return_indices", "size")(_common)


def _first_occurrences(a: Any, values: Any, size: int | None) -> Any:
    """The index at which each of ``values`` first occurs in ``a``; its length for fill values."""
    shape = (values.shape[0], a.shape[0])
    same = lax.eq(lax.broadcast_in_dim(values, shape, (0,)), lax.broadcast_in_dim(a, shape, (1,)))
    if not a.shape[0]:
        return lax.full((values.shape[0],), 0, default_int())
    result = lax.argmax(same, 1, default_int())
    there = lax.reduce_or(same, (1,))
    if size is not None:
        n = values.shape[0]
        again = lax.eq(lax.broadcast_in_dim(values, (n, n), (0,)),
                       lax.broadcast_in_dim(values, (n, n), (1,)))  # fmt: skip
        before = lax.bitwise_and(again, np.tri(n, k=-1, dtype=bool))
        there = lax.bitwise_and(there, lax.bitwise_not(lax.reduce_or(before, (1,))))
    return select(there, result, number(result, a.shape[0]))
