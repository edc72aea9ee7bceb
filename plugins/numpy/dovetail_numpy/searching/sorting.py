"""Sorting: values, indices that sort, several keys, partial sorts."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import here
from dovetail_lax import dtypes

from ..creation.arrays import as_array
from ..fusion import fused, is_operand, of_one_array, one_call
from ..operands import Array, ArrayLike, axis_index, integer
from ..operations import filled, number, reshape as to_shape, select
from ..promotion import INT32, convert, default_int


def _checked(name: str, a: ArrayLike, axis: Any, kind: Any, order: Any) -> tuple[Any, int]:
    if kind is not None:
        # NumPy's functions of the same name then sort a NumPy array, as they do after TypeErrors.
        raise TypeError(f"{name}: kind is not supported; use stable=True or False{here()}")
    if order is not None:
        raise TypeError(
            f"{name}: order is not supported, for there are no structured arrays{here()}"
        )
    a = as_array(name, a)
    if axis is None:
        return to_shape(a, (a.size,)), 0
    return a, axis_index(name, axis, a.ndim)


@of_one_array("axis", "kind", "order", "stable", "descending")
def sort(
    a: ArrayLike, axis: int | None = -1, *, kind: None = None, order: None = None,
    stable: bool = True, descending: bool = False,
) -> Array:  # fmt: skip
    """``a`` sorted along ``axis``, or flattened and sorted; NaN comes last.

    Raises:
        ValueError: the axis is out of bounds.
    """
    a, axis = _checked("sort", a, axis, kind, order)
    return _sort(a, axis=axis, stable=bool(stable), descending=bool(descending))


@fused(static=("axis", "stable", "descending"))
def _sort(a: Any, axis: int, stable: bool, descending: bool) -> Any:
    out = lax.sort_p.bind(a, dimension=axis, is_stable=stable, num_keys=1)[0]
    return lax.rev(out, (axis,)) if descending else out


@of_one_array("axis", "kind", "order", "stable", "descending", "dtype")
def argsort(
    a: ArrayLike, axis: int | None = -1, *, kind: None = None, order: None = None,
    stable: bool = True, descending: bool = False, dtype: Any = None,
) -> Array:  # fmt: skip
    """The indices that sort ``a`` along ``axis``; equal elements keep their order if ``stable``.

    Raises:
        ValueError: the axis is out of bounds.
    """
    a, axis = _checked("argsort", a, axis, kind, order)
    dt = default_int() if dtype is None else dtypes.as_dtype(dtype)
    return _argsort(a, axis=axis, stable=bool(stable), descending=bool(descending), dtype=dt)


@fused(static=("axis", "stable", "descending", "dtype"))
def _argsort(a: Any, axis: int, stable: bool, descending: bool, dtype: Any) -> Any:
    a = lax.rev(a, (axis,)) if descending else a
    positions = lax.broadcasted_iota(dtype, a.shape, axis)
    result = lax.sort_p.bind(a, positions, dimension=axis, is_stable=stable, num_keys=1)[1]
    if not descending:
        return result
    # Sorted backwards twice, so that equal elements keep their order.
    result = lax.rev(result, (axis,))
    return lax.sub(dtype.type(max(a.shape[axis] - 1, 0)), result)


def _not_arrays(keys: Any, axis: Any = -1) -> bool:
    return keys.__class__ not in (list, tuple) or not all(is_operand(k) for k in keys)


@fused(static=("axis",), unless=_not_arrays)
def lexsort(keys: Any, axis: int = -1) -> Array:
    """The indices that sort by several keys, of which the last is the most significant.

    Raises:
        TypeError: there are no keys.
        ValueError: keys have different shapes.
    """
    rows: Sequence[Any] = keys
    if not isinstance(keys, (list, tuple)):
        stacked = as_array("lexsort", keys)
        if not stacked.shape:
            raise TypeError(f"lexsort takes a sequence of keys, got a scalar{here()}")
        rows = [lax.index_in_dim(stacked, i, keepdims=False) for i in range(stacked.shape[0])]
    arrays = [as_array("lexsort", k, i) for i, k in enumerate(rows)]
    if not arrays:
        raise TypeError(f"lexsort needs at least one key{here()}")
    if len({k.shape for k in arrays}) > 1:
        raise ValueError(
            f"lexsort: keys must have one shape, got "
            f"{', '.join(str(k.shape) for k in arrays)}{here()}"
        )
    if not arrays[0].ndim:
        return lax.full((), 0, default_int())
    axis = axis_index("lexsort", axis, arrays[0].ndim)
    return _lexsort(*arrays, axis=axis, dtype=default_int())


@fused(static=("axis", "dtype"))
def _lexsort(*keys: Any, axis: int, dtype: Any) -> Any:
    positions = lax.broadcasted_iota(dtype, keys[0].shape, axis)
    return lax.sort((*keys[::-1], positions), dimension=axis, num_keys=len(keys))[-1]


def sort_complex(a: ArrayLike) -> Array:
    """``a`` sorted along its last axis, as complex numbers."""
    out = sort(a)
    if out.dtype.kind == "c":
        return out
    wide = np.complex128 if out.dtype.kind in "iuf" and out.dtype.itemsize == 8 else np.complex64
    return lax.convert_element_type(out, wide)


@fused(static=("kth", "indices", "dtype"))
def _partition(a: Any, kth: int, indices: bool, dtype: Any) -> Any:
    # The smallest come first: by the negated (or complemented) keys, of which top_k is the largest.
    size, floating = a.shape[-1], dtypes.issubdtype(a.dtype, np.floating)
    turned = lax.neg if floating else lax.bitwise_not
    if a.dtype.kind == "c":
        both = lax.sort((a, lax.broadcasted_iota(dtype, a.shape, a.ndim - 1)), num_keys=1)
        return both[1] if indices else both[0]
    if floating:  # top_k takes a NaN with a sign, as processors make them, as the least
        a = select(lax.ne(a, a), number(a, np.nan), a)
    low, low_at = lax.top_k(turned(a), kth + 1)
    if indices:
        return _with_others(convert(low_at, dtype), size)
    high, _ = lax.top_k(a, size - kth - 1)
    return lax.concatenate([turned(low), high], a.ndim - 1)


def _with_others(chosen: Any, size: int) -> Any:
    """Indices along the last axis, followed by all the others in order."""
    *lead, k = chosen.shape
    rows = prod(lead)
    vector = lax.ScatterDimensionNumbers((), (0, 1), (0, 1))

    def spread(values: Any, at: Any, count: int) -> Any:
        """Rows of zeros with ``values`` at indices ``at``; those out of bounds are dropped."""
        row = lax.broadcasted_iota(np.int32, (rows, count, 1), 0)
        both = lax.concatenate([row, lax.reshape(at, (rows, count, 1))], 2)
        zeros = filled(values, (rows, size), 0)
        return lax.scatter(zeros, both, values, vector, unique_indices=True, mode="drop")

    first = lax.reshape(convert(chosen, INT32), (rows, k))
    taken = spread(lax.full((rows, k), 1, INT32), first, k)
    after = lax.cumsum(lax.sub(number(taken, 1), taken), axis=1)
    after = lax.add(after, number(after, k - 1))
    after = select(lax.eq(taken, number(taken, 1)), number(after, size), after)
    others = spread(lax.broadcasted_iota(chosen.dtype, (rows, size), 1), after, size)
    others = lax.slice_in_dim(others, k, size, axis=1)
    return lax.concatenate([chosen, lax.reshape(others, (*lead, size - k))], len(lead))


def _partitioned(name: str, a: ArrayLike, kth: int, axis: int, indices: bool) -> Array:
    from ..manipulation.shapes import moveaxis

    a = as_array(name, a)
    axis = axis_index(name, axis, a.ndim)
    k = integer(name, "kth", kth)
    size = a.shape[axis]
    if not -size <= k < size:
        raise ValueError(f"{name}: kth {k} is out of bounds for an axis of size {size}{here()}")
    out = _partition(moveaxis(a, axis, -1), kth=k % size, indices=indices, dtype=INT32)
    return moveaxis(out, -1, axis)


@one_call("kth", "axis")
def partition(a: ArrayLike, kth: int, axis: int = -1) -> Array:
    """``a`` with its ``kth`` smallest element at ``kth``, smaller ones before, greater after."""
    return _partitioned("partition", a, kth, axis, False)


@one_call("kth", "axis")
def argpartition(a: ArrayLike, kth: int, axis: int = -1) -> Array:
    """The indices that partition ``a`` (see :func:`partition`)."""
    return _partitioned("argpartition", a, kth, axis, True)
