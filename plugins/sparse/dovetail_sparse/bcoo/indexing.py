"""Indexing of arrays in BCOO format, slices, windows and gathers."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.source import short_repr
from dovetail_core import here
from dovetail_lax import dtypes

from ..base import over_batches
from .axes import bcoo_broadcast_in_dim, bcoo_rev, bcoo_squeeze, bcoo_transpose
from .indices import bcoo_sum_duplicates, columns, in_bounds, index_vectors, masked, padded
from .relayout import bcoo_update_layout
from .stored import S, Stored


def bcoo_slice(
    mat: S,
    *,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> S:
    """The elements from ``start_indices`` up to ``limit_indices``, ``strides`` apart.

    Raises:
        ValueError: there is not one of each per axis, or they are out of bounds.
    """
    start = [operator.index(i) for i in start_indices]
    limit = [operator.index(i) for i in limit_indices]
    steps = [1] * mat.ndim if strides is None else [operator.index(i) for i in strides]
    if not len(start) == len(limit) == len(steps) == mat.ndim:
        raise ValueError(
            f"bcoo_slice: start_indices, limit_indices and strides must have one entry for each "
            f"axis of shape {mat.shape}, got {start}, {limit} and {strides}{here()}"
        )
    if (
        any(not 0 <= a <= b <= n for a, b, n in zip(start, limit, mat.shape))
        or min(steps, default=1) < 1
    ):
        raise ValueError(
            f"bcoo_slice: invalid indices. Got start_indices={start}, limit_indices={limit}, "
            f"strides={steps} and shape={mat.shape}{here()}"
        )
    shape = [-((a - b) // s) for a, b, s in zip(start, limit, steps)]
    n_batch, n_sparse, _, _ = mat.layout
    end = n_batch + n_sparse

    def part(x: Any, axes: slice, first: int) -> Any:
        """``x`` sliced along those of its axes from ``first`` on; those of length 1 are kept."""
        picks = [slice(None)] * first
        for i, a, b, s in zip(range(first, x.ndim), start[axes], limit[axes], steps[axes]):
            picks.append(slice(None) if x.shape[i] == 1 and b - a else slice(a, b, s))
        return x[tuple(picks)]

    data = part(part(mat.full_parts()[0], slice(end, None), n_batch + 1), slice(n_batch), 0)
    indices = part(mat.full_parts()[1], slice(n_batch), 0)
    sparse = slice(n_batch, end)
    return _within(mat, data, indices, shape, start[sparse], limit[sparse], steps[sparse])


def _within(
    mat: S, data: Any, indices: Any, shape: Sequence[int], start: Sequence[Any],
    limit: Sequence[Any], steps: Sequence[int],
) -> S:  # fmt: skip
    """The stored elements within bounds of the sparse axes, with new indices."""
    sparse_shape = tuple(shape[mat.n_batch : mat.n_batch + mat.n_sparse])
    inside = in_bounds(indices, mat.sparse_shape)
    result: list[Any] = []
    for column, a, b, step in zip(columns(indices), start, limit, steps):
        inside &= (column >= a) & (column < b)
        moved = column - a
        if step != 1:
            inside &= moved % step == 0
            moved = moved // step
        result.append(moved)
    vectors = index_vectors(*result, dtype=indices.dtype, shape=inside.shape)
    out = mat.like(
        masked(inside, data), padded(inside, vectors, sparse_shape), shape,
        unique=mat.unique_indices,
    )  # fmt: skip
    most = math.prod(sparse_shape)
    return bcoo_sum_duplicates(out, most) if mat.n_sparse and out.nse > most else out


def bcoo_dynamic_slice(mat: S, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> S:
    """A window of ``slice_sizes`` that starts at ``start_indices``, which may be traced.

    As in :func:`dovetail.lax.dynamic_slice`, negative starts count from the end, and a window that
    would reach beyond the array is moved inside.

    Raises:
        ValueError: there is not one start and one size for each axis.
        TypeError: the window is larger than the array.
    """
    sizes = [operator.index(n) for n in slice_sizes]
    starts = list(start_indices)
    if len(starts) != mat.ndim or len(sizes) != mat.ndim:
        raise ValueError(
            "Length of slice indices must match number of operand dimensions "
            f"({len(starts)} and {len(sizes)} vs {mat.shape}){here()}"
        )
    if any(not 0 <= s <= n for s, n in zip(sizes, mat.shape)):
        raise TypeError(
            "slice slice_sizes must be less than or equal to operand shape, got slice_sizes "
            f"{tuple(sizes)} for operand shape {mat.shape}{here()}"
        )
    first = [_clamped(i, n, s) for i, n, s in zip(starts, mat.shape, sizes)]
    n_batch, n_sparse, _, nse = mat.layout
    end = n_batch + n_sparse
    zero = np.int32(0)
    data, indices = mat.full_parts()
    data = lax.dynamic_slice(
        data, (*first[:n_batch], zero, *first[end:]), (*sizes[:n_batch], nse, *sizes[end:])
    )
    indices = lax.dynamic_slice(
        indices, (*first[:n_batch], zero, zero), (*sizes[:n_batch], nse, n_sparse)
    )
    begin = [i.astype(indices.dtype) for i in first[n_batch:end]]
    limit = [a + n for a, n in zip(begin, sizes[n_batch:end])]
    return _within(mat, data, indices, sizes, begin, limit, [1] * n_sparse)


def _clamped(start: Any, length: int, size: int) -> Any:
    """A start within bounds, counted from the end where it is negative."""
    start = dnp.asarray(start)
    if start.dtype.kind != "u":
        start = start.astype(dtypes.promote_types(start.dtype, np.int32))
        start = dnp.where(start < 0, start + length, start)
    return dnp.clip(start, 0, length - size).astype(dnp.int32)


def windows(mat: S, starts: Sequence[Any], sizes: Sequence[int]) -> S:
    """Windows at several positions: ``starts`` has an index array, or an integer, for each axis.

    The axes of the index arrays, which broadcast against one another, are the first batch axes of
    the result.
    """
    positions = dnp.broadcast_arrays(*[dnp.asarray(s) for s in starts]) if starts else []
    n = positions[0].ndim if positions else 0

    def one(*starts: Any) -> tuple[Any, Any]:
        result = bcoo_dynamic_slice(mat, starts, sizes)
        return result.data, result.indices

    data, indices = over_batches(one, n)(*positions)
    shape = (*(positions[0].shape if positions else ()), *sizes)
    return mat.like(data, indices, shape)


def moved(mat: S, permutation: Sequence[int]) -> S:
    """The array with its axes in any order; as few as possible change their kind."""
    order = tuple(permutation)
    n_batch = mat.n_batch
    while set(order[:n_batch]) != set(range(n_batch)):
        n_batch -= 1
    n_dense, ndim = mat.n_dense, mat.ndim
    while set(order[ndim - n_dense :]) != set(range(ndim - n_dense, ndim)):
        n_dense -= 1
    changed = bcoo_update_layout(mat, n_batch=n_batch, n_dense=n_dense)
    return bcoo_transpose(changed, permutation=order)


def bcoo_gather(
    operand: S,
    start_indices: Any,
    dimension_numbers: lax.GatherDimensionNumbers,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: str | lax.GatherScatterMode | None = None,
    fill_value: Any = None,
) -> S:
    """Windows at the positions ``start_indices``; see :func:`dovetail.lax.gather`.

    The batch axes of the result come first if the dimension numbers have them first; otherwise
    axes become sparse.

    Raises:
        NotImplementedError: ``mode`` is to fill what is out of bounds, or the dimension numbers
            have batching dimensions.
    """
    how = lax.GatherScatterMode.from_any(mode or "clip")
    if how is lax.GatherScatterMode.FILL_OR_DROP:
        raise NotImplementedError(f"bcoo_gather: mode={mode!r} not yet supported{here()}")
    numbers = dimension_numbers
    if numbers.operand_batching_dims or numbers.start_indices_batching_dims:
        raise NotImplementedError(f"bcoo_gather with batching dimensions is not there{here()}")
    start_indices = dnp.asarray(start_indices)
    n = start_indices.ndim - 1
    starts: list[Any] = [dnp.zeros((1,) * n, start_indices.dtype)] * operand.ndim
    for i, axis in enumerate(numbers.start_index_map):
        size, length = int(slice_sizes[axis]), operand.shape[axis]
        starts[axis] = dnp.clip(start_indices[..., i], 0, length - size)
    batch = start_indices.shape[:-1]
    starts = [dnp.broadcast_to(s, batch) for s in starts]
    result = windows(operand, starts, slice_sizes)
    removed = [n + a for a in numbers.collapsed_slice_dims]
    out = bcoo_squeeze(result, dimensions=removed)
    offsets = list(numbers.offset_dims)
    source = [i for i in range(out.ndim) if i not in offsets]
    order = [0] * out.ndim
    for i, axis in enumerate(source):
        order[axis] = i
    for i, axis in enumerate(offsets):
        order[axis] = n + i
    return moved(out, order) if order != sorted(order) else out


class Items(NamedTuple):
    """An index by axes: one entry per axis, and the axes of the result."""

    entries: list[Any]
    kept: list[Any]
    """For each axis of the result the axis of the array, or None for a new one."""


def getitem(mat: S, index: Any) -> S:
    """``mat[index]``: integers, slices, ``None``, ``...`` and integer or boolean arrays.

    Integers out of bounds are moved inside, as :func:`bcoo_dynamic_slice` does.

    Raises:
        IndexError: there are too many indices, or one is of another kind.
    """
    result = _items(mat, index if isinstance(index, tuple) else (index,))
    mat = _sliced(mat, result.entries)
    arrays = {a: e for a, e in enumerate(result.entries) if not isinstance(e, slice)}
    if any(np.ndim(e) for e in arrays.values()):
        return _picked(mat, arrays, result.kept)
    labels = [a for a in range(mat.ndim) if a not in arrays]
    return _finished(_at_integers(mat, arrays), labels, [a for a in result.kept if a not in arrays])


def _items(mat: Stored, index: tuple[Any, ...]) -> Items:
    index = tuple(x for i in index for x in _expanded(i))
    given = sum(1 for i in index if i is not None and i is not Ellipsis)
    if given > mat.ndim:
        raise IndexError(
            f"Too many indices: array is {mat.ndim}-dimensional, but {given} were indexed{here()}"
        )
    dots = [k for k, i in enumerate(index) if i is Ellipsis]
    if len(dots) > 1:
        raise IndexError(f"an index can only have a single ellipsis ('...'){here()}")
    rest = (slice(None),) * (mat.ndim - given)
    at = dots[0] if dots else len(index)
    index = (*index[:at], *rest, *index[at + 1 :])
    entries: list[Any] = []
    kept: list[Any] = []
    for item in index:
        if item is None:
            kept.append(None)
            continue
        kept.append(len(entries))
        entries.append(item if isinstance(item, slice) else _integers(item))
    return Items(entries, kept)


def _expanded(item: Any) -> tuple[Any, ...]:
    """A boolean array as index arrays."""
    if isinstance(item, (np.ndarray, list)) or hasattr(item, "aval"):
        values = np.asarray(item) if isinstance(item, list) else item
        if values.dtype == bool:
            return tuple(np.nonzero(np.asarray(values)))
        return (values,)
    return (item,)


def _integers(item: Any) -> Any:
    if isinstance(item, (np.ndarray, np.generic)) or hasattr(item, "aval"):
        result = item
    else:
        try:
            return operator.index(item)
        except TypeError:
            result = None
    if result is None or isinstance(item, bool) or result.dtype.kind not in "iu":
        kind = TypeError if isinstance(item, str) else IndexError
        raise kind(
            "only integers, slices (`:`), ellipsis (`...`), newaxis (`None`) and integer or "
            f"boolean arrays are valid indices. Got {short_repr(item)}{here()}"
        )
    return result


def _sliced(mat: S, entries: list[Any]) -> S:
    start, limit, step, back = [], [], [], []
    for axis, (n, entry) in enumerate(zip(mat.shape, entries)):
        a, b, s = entry.indices(n) if isinstance(entry, slice) else (0, n, 1)
        count = len(range(a, b, s))
        if s < 0:
            back.append(axis)
            a, s = (a + (count - 1) * s if count else 0), -s
        b = min(a + (count - 1) * s + 1, n) if count else a
        start.append(min(a, n))
        limit.append(max(min(b, n), min(a, n)))
        step.append(s)
    if limit != list(mat.shape) or any(start) or any(s > 1 for s in step):
        mat = bcoo_slice(mat, start_indices=start, limit_indices=limit, strides=step)
    return bcoo_rev(mat, back) if back else mat


def _at_integers(mat: S, integers: dict[int, Any]) -> S:
    if not integers:
        return mat
    starts = [integers.get(a, 0) for a in range(mat.ndim)]
    sizes = [1 if a in integers else n for a, n in enumerate(mat.shape)]
    result = bcoo_dynamic_slice(mat, starts, sizes)
    return bcoo_squeeze(result, dimensions=tuple(integers))


def _picked(mat: S, arrays: dict[int, Any], kept: list[Any]) -> S:
    """The elements at index arrays, whose axes come where the arrays were, or first of all."""
    starts = [arrays.get(a, 0) for a in range(mat.ndim)]
    sizes = [1 if a in arrays else n for a, n in enumerate(mat.shape)]
    result = windows(mat, starts, sizes)
    new = [("picked", i) for i in range(result.ndim - mat.ndim)]
    result = bcoo_squeeze(result, dimensions=[len(new) + a for a in arrays])
    labels: list[Any] = [*new, *[a for a in range(mat.ndim) if a not in arrays]]
    positions = [i for i, a in enumerate(kept) if a in arrays]
    adjacent = positions[-1] - positions[0] == len(positions) - 1
    first = positions[0] if adjacent else 0
    before = [a for a in kept[:first] if a not in arrays]
    return _finished(result, labels, [*before, *new, *[a for a in kept[first:] if a not in arrays]])


def _finished(mat: S, labels: list[Any], wanted: list[Any]) -> S:
    """``mat``, whose axes have ``labels``, with axes as ``wanted``; None is a new one."""
    order = [labels.index(a) for a in wanted if a is not None]
    if order != sorted(order):
        mat = moved(mat, order)
    if None not in wanted:
        return mat
    positions = [i for i, a in enumerate(wanted) if a is not None]
    shape = [1] * len(wanted)
    for i, n in zip(positions, mat.shape):
        shape[i] = n
    return bcoo_broadcast_in_dim(mat, shape=shape, broadcast_dimensions=positions)
