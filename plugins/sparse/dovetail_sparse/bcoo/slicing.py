"""Parts of arrays in BCOO format: slices, and slices at places that are traced."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import here
from dovetail_lax import dtypes

from ..batches import over_batches
from .axes import bcoo_squeeze, bcoo_transpose
from .order import bcoo_sum_duplicates
from .places import columns, in_bounds, masked, padded, together
from .relayout import bcoo_update_layout
from .stored import S


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
        """``x`` sliced along those of its axes that begin with ``first``; or whole, of length 1."""
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
    """What is left of stored elements within bounds of the sparse axes, by new indices."""
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
    vectors = together(*result, dtype=indices.dtype, shape=inside.shape)
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
    """Windows at several places: ``starts`` has an index array, or an integer, for each axis.

    The axes of the index arrays, which broadcast against one another, are the first batch axes of
    the result.
    """
    places = dnp.broadcast_arrays(*[dnp.asarray(s) for s in starts]) if starts else []
    n = places[0].ndim if places else 0

    def one(*starts: Any) -> tuple[Any, Any]:
        result = bcoo_dynamic_slice(mat, starts, sizes)
        return result.data, result.indices

    data, indices = over_batches(one, n)(*places)
    shape = (*(places[0].shape if places else ()), *sizes)
    return mat.like(data, indices, shape)


def moved(mat: S, permutation: Sequence[int]) -> S:
    """The array with its axes in any order, as few as possible of them changing their kind."""
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
    """Windows at the places that ``start_indices`` says; see :func:`dovetail.lax.gather`.

    The batch axes of the result come first where the dimension numbers say so; otherwise axes
    become sparse.

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
    gone = [n + a for a in numbers.collapsed_slice_dims]
    out = bcoo_squeeze(result, dimensions=gone)
    offsets = list(numbers.offset_dims)
    source = [i for i in range(out.ndim) if i not in offsets]
    order = [0] * out.ndim
    for i, axis in enumerate(source):
        order[axis] = i
    for i, axis in enumerate(offsets):
        order[axis] = n + i
    return moved(out, order) if order != sorted(order) else out
