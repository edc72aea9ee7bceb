"""Moving elements about: flips, rolls, rotations, repetition, insertion and deletion."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base import arguments
from dovetail_base.source import short_repr
from dovetail_core import ConcretizationTypeError, Tracer, here, type_shardings
from dovetail_lax.errors import ShapeError

from ..creation.arrays import as_array
from ..fusion import fused, one_call
from ..operands import Array, ArrayLike, Axis, DTypeError, axis_index, axis_tuple, integer
from ..operations import filled, number, reshape as to_shape, select
from ..promotion import INT32, convert
from .joining import concatenate
from .shapes import moveaxis, ravel, swapaxes


def flip(m: ArrayLike, axis: Axis = None) -> Array:
    """``m`` with the order of elements reversed along some axes, by default all."""
    m = as_array("flip", m)
    axes = axis_tuple("flip", axis, m.ndim)
    return lax.rev_p.bind(m, dimensions=axes) if axes else m


def flipud(m: ArrayLike) -> Array:
    """``m`` upside down: the first axis reversed."""
    return flip(m, 0)


def fliplr(m: ArrayLike) -> Array:
    """``m`` left to right: the second axis reversed."""
    return flip(m, 1)


@one_call("k", "axes")
def rot90(m: ArrayLike, k: int = 1, axes: Any = (0, 1)) -> Array:
    """``m`` rotated ``k`` times by 90 degrees, from the first of ``axes`` towards the second."""
    m = as_array("rot90", m)
    one, two = axis_tuple("rot90", tuple(axes), m.ndim)
    turns = integer("rot90", "k", k) % 4
    if turns == 0:
        return m
    if turns == 2:
        return flip(m, (one, two))
    if turns == 1:
        return swapaxes(flip(m, two), one, two)
    return flip(swapaxes(m, one, two), two)


def roll(a: ArrayLike, shift: Any, axis: Axis = None) -> Array:
    """``a`` with elements moved along axes by ``shift``; those that leave come in at the other end.

    Raises:
        ValueError: not as many shifts as axes.
    """
    a = as_array("roll", a)
    if axis is None:
        return to_shape(roll(ravel(a), shift, 0), a.shape) if a.ndim != 1 else roll(a, shift, 0)
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple([axis_index("roll", i, a.ndim) for i in given])
    if hasattr(shift, "aval"):
        return _roll_dynamic(a, shift, axes=axes)
    given = arguments.array_of(shift)
    if given is not shift:
        return roll(a, given, axis)
    shifts = arguments.items("shift", np.ravel(np.asarray(shift)).tolist(), arguments.integer)
    if len(shifts) == 1:
        shifts *= len(axes)
    if len(axes) == 1:
        axes *= len(shifts)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: {len(shifts)} shifts for {len(axes)} axes{here()}")
    return _roll(a, shifts=tuple(shifts), axes=axes)


@fused(static=("shifts", "axes"))
def _roll(a: Any, shifts: Any, axes: Any) -> Any:
    for shift, axis in zip(shifts, axes):
        size = a.shape[axis]
        cut = -shift % size if size else 0
        if cut:
            parts = lax.split_p.bind(a, sizes=(cut, size - cut), axis=axis)
            a = lax.concatenate_p.bind(parts[1], parts[0], dimension=axis)
    return a


@fused(static=("axes",))
def _roll_dynamic(a: Any, shift: Any, axes: Any) -> Any:
    shift = convert(shift, INT32)
    shift = lax.broadcast_in_dim(lax.reshape(shift, (shift.size,)), (len(axes),), (0,))
    for i, axis in enumerate(axes):
        size = np.int32(max(a.shape[axis], 1))
        back = lax.sub(lax.squeeze(lax.slice_in_dim(shift, i, i + 1), (0,)), np.int32(0))
        start = lax.rem(lax.sub(size, lax.rem(back, size)), size)
        start = lax.rem(lax.add(start, size), size)
        twice = lax.concatenate([a, a], axis)
        a = lax.dynamic_slice_in_dim(twice, start, a.shape[axis], axis)
    return a


def tile(A: ArrayLike, reps: Any) -> Array:
    """``A`` repeated ``reps`` times along each axis, with new leading axes as needed."""
    a = as_array("tile", A)
    counts = (reps,) if np.ndim(reps) == 0 else tuple(reps)
    times = tuple(integer("tile", "every repetition", r) for r in counts)
    ndim = max(a.ndim, len(times))
    a = to_shape(a, (1,) * (ndim - a.ndim) + a.shape)
    return lax.tile(a, (1,) * (ndim - len(times)) + times)


def repeat(
    a: ArrayLike, repeats: Any, axis: int | None = None, *,
    total_repeat_length: int | None = None, out_sharding: Any = None,
) -> Array:  # fmt: skip
    """``a`` with each element repeated along ``axis``, or of the flattened array.

    Args:
        repeats: the number of repetitions: an integer, or one for each element along the axis.
        total_repeat_length: the size of the result along the axis; needed if ``repeats`` is traced.

    Raises:
        ValueError: ``repeats`` has neither one element nor one for each along the axis.
        ConcretizationTypeError: ``repeats`` is traced and ``total_repeat_length`` is not given.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding, repeat, a, repeats, axis, total_repeat_length=total_repeat_length
        )
    a = as_array("repeat", a)
    if axis is None:
        a, axis = ravel(a), 0
    axis = axis_index("repeat", axis, a.ndim)
    if total_repeat_length is None and not isinstance(repeats, Tracer):
        counts = np.asarray(repeats)
        if counts.size == 1:
            return _repeat_each(a, count=integer("repeat", "repeats", counts.item()), axis=axis)
        total_repeat_length = int(counts.sum())
    elif total_repeat_length is None:
        raise ConcretizationTypeError(
            f"repeat: repeats is a traced value{here()}, so that the size of the result is not "
            "known. Give total_repeat_length, or make repeats static."
        )
    counts = as_array("repeat", repeats)
    if counts.size not in (1, a.shape[axis]):
        raise ValueError(
            f"repeat: {counts.size} repeats for an axis of size {a.shape[axis]} of an array of "
            f"shape {a.shape}{here()}"
        )
    return _repeat_by(a, counts, axis=axis, total=integer("repeat", "total_repeat_length",
                                                          total_repeat_length))  # fmt: skip


@fused(static=("count", "axis"))
def _repeat_each(a: Any, count: int, axis: int) -> Any:
    shape = (*a.shape[: axis + 1], count, *a.shape[axis + 1 :])
    dims = tuple(i for i in range(a.ndim + 1) if i != axis + 1)
    spread = lax.broadcast_in_dim(a, shape, dims)
    return lax.reshape(spread, (*a.shape[:axis], a.shape[axis] * count, *a.shape[axis + 1 :]))


@fused(static=("axis", "total"))
def _repeat_by(a: Any, counts: Any, axis: int, total: int) -> Any:
    size = a.shape[axis]
    if not size or not total:
        return filled(a, (*a.shape[:axis], total, *a.shape[axis + 1 :]), 0)
    counts = lax.broadcast_in_dim(
        lax.reshape(convert(counts, INT32), (counts.size,)), (size,), (0,)
    )
    ends = lax.cumsum(counts, axis=0)
    # Element j of the result comes from the first element whose running count is above j.
    positions = lax.broadcasted_iota(np.int32, (size, total), 1)
    before = lax.le(lax.broadcast_in_dim(ends, (size, total), (0,)), positions)
    source = lax.reduce_sum_p.bind(lax.convert_element_type(before, np.int32), axes=(0,))
    from ..indexing.taking import take_along

    return take_along(a, lax.min(source, np.int32(size - 1)), axis)


def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: Axis = None) -> Array:
    """``filt`` without its leading (``'f'``) and trailing (``'b'``) slices of zeros.

    Args:
        axis: the axes to trim, by default all. Not while tracing: the size depends on the values.
    """
    arguments.string("trim", trim)
    array = as_array("trim_zeros", filt)
    from ..searching.finding import concrete_value

    values = concrete_value("trim_zeros", array, "Cut a part of known size out of it.")
    kept = [slice(None)] * values.ndim
    positions = np.nonzero(values)
    for i in axis_tuple("trim_zeros", axis, values.ndim):
        result = positions[i]
        start = result.min() if result.size and "f" in trim.lower() else 0
        stop = result.max() + 1 if result.size and "b" in trim.lower() else values.shape[i]
        kept[i] = slice(int(start), int(stop) if result.size else 0)
    return array[tuple(kept)]


def delete(
    arr: ArrayLike, obj: Any, axis: int | None = None, *, assume_unique_indices: bool = False
) -> Array:
    """``arr`` without the elements at index, slice or indices ``obj`` along ``axis``.

    Raises:
        IndexError: an index is out of bounds.
        DTypeError, ShapeError: ``obj`` is no array of integers, nor a mask of the axis.
        ConcretizationTypeError: ``obj`` is traced and not known to be without duplicates.
    """
    a, obj = as_array("delete", arr), arguments.array_of(obj)
    if axis is None:
        a, axis = ravel(a), 0
    axis = axis_index("delete", axis, a.ndim)
    size = a.shape[axis]
    if hasattr(obj, "aval") and assume_unique_indices:
        return _delete_traced(a, obj, axis)
    keep = np.ones(size, bool)
    keep[obj if isinstance(obj, slice) else _deleted_positions(obj, size)] = False
    from ..indexing.taking import take_along

    edges = np.flatnonzero(np.diff(keep, prepend=False, append=False)).reshape(-1, 2).tolist()
    if 0 < len(edges) <= _PARTS:
        parts = [lax.slice_in_dim(a, start, stop, axis=axis) for start, stop in edges]
        return parts[0] if len(parts) == 1 else lax.concatenate(parts, axis)
    return take_along(a, np.flatnonzero(keep).astype(np.int32), axis)


_PARTS = 4
"""If at most so many parts remain, they are joined from slices."""


def _deleted_positions(obj: Any, size: int) -> Any:
    positions = arguments.known_array(obj)
    if positions.dtype.kind == "b":
        if positions.shape != (size,):
            raise ShapeError(
                f"delete: a mask of shape {positions.shape} for an axis of size {size}{here()}"
            )
    elif not positions.size:
        return positions.astype(int)
    elif positions.dtype.kind not in "iu":
        raise DTypeError(
            f"delete: obj must be of integers or booleans, got dtype {positions.dtype}{here()}"
        )
    elif positions.min() < -size or positions.max() >= size:
        raise IndexError(
            f"delete: index {short_repr(obj)} is out of bounds for an axis of size {size}{here()}"
        )
    return positions


def _delete_traced(a: Any, obj: Any, axis: int) -> Any:
    from ..indexing.taking import take_along

    size = a.shape[axis]
    obj = ravel(obj)
    obj = select(lax.lt(obj, number(obj, 0)), lax.add(obj, number(obj, size)), obj)
    ranked = lax.sort(obj)
    shifted = lax.sub(ranked, lax.iota(obj.dtype, obj.size))
    n = size - obj.size
    positions = lax.iota(obj.dtype, n)
    above = lax.ge(lax.broadcast_in_dim(positions, (obj.size, n), (1,)),
                   lax.broadcast_in_dim(shifted, (obj.size, n), (0,)))  # fmt: skip
    moved = lax.reduce_sum_p.bind(lax.convert_element_type(above, obj.dtype), axes=(0,))
    return take_along(a, lax.add(positions, moved), axis)


def _insertion_positions(obj: Any, size: int, axis: int) -> Any:
    """Indices from 0 to ``size``: a NumPy array where they are known, else a traced one."""
    if isinstance(obj, slice):
        return np.arange(size)[obj]
    traced = isinstance(obj, Tracer) and obj.dtype.kind != "b"
    positions: Any = obj if traced else arguments.known_array(obj)
    if positions.ndim > 1:
        raise ValueError(
            f"insert: obj must have one dimension at most, got shape {positions.shape}{here()}"
        )
    if positions.dtype.kind == "b":
        return np.flatnonzero(positions)
    if positions.size and positions.dtype.kind not in "iu":
        raise ValueError(
            f"insert: obj must be of integers or a slice, got dtype {positions.dtype}{here()}"
        )
    if traced:
        positions = convert(positions, INT32)
        positions = select(
            lax.lt(positions, np.int32(0)), lax.add(positions, np.int32(size)), positions
        )
        return lax.clamp(np.int32(0), positions, np.int32(size))
    if positions.size and (positions.min() < -size or positions.max() > size):
        raise IndexError(
            f"insert: index {positions} is out of bounds for axis {axis} of size {size}{here()}"
        )
    return np.where(positions < 0, positions + size, positions).astype(int)


def insert(arr: ArrayLike, obj: Any, values: ArrayLike, axis: int | None = None) -> Array:
    """``arr`` with ``values`` inserted before index, slice or indices ``obj`` along ``axis``.

    They are converted to the element type of ``arr``.

    Raises:
        IndexError: an index is out of bounds; one that is traced is limited to the ends.
        ValueError: ``obj`` is an array of numbers other than integers, or of several dimensions.
    """
    a = as_array("insert", arr)
    v = convert(as_array("insert", values, 2), a.dtype)
    if axis is None:
        a, axis = ravel(a), 0
    axis = axis_index("insert", axis, a.ndim)
    size = a.shape[axis]
    where = _insertion_positions(obj, size, axis)
    v = to_shape(v, (1,) * max(0, a.ndim - v.ndim) + v.shape)
    v = moveaxis(v, 0, axis) if where.ndim == 0 else v
    count = v.shape[axis] if where.size == 1 else where.size
    shape = (*a.shape[:axis], count, *a.shape[axis + 1 :])
    from ..promotion import broadcast

    joined = concatenate([a, broadcast(v, shape)], axis)
    from ..indexing.taking import take_along

    return take_along(joined, _merged(size, where, count), axis)


def _merged(size: int, where: Any, count: int) -> Any:
    """The order of ``size`` elements and ``count`` others that are inserted at ``where``."""
    if isinstance(where, np.ndarray):
        flat = np.broadcast_to(where.ravel(), (count,))
        keys = np.concatenate([2 * np.arange(size) + 1, 2 * flat])
        return np.argsort(keys, kind="stable").astype(np.int32)
    flat = lax.broadcast_in_dim(ravel(where), (count,), (0,))
    positions = lax.iota(flat.dtype, size)
    keys = lax.concatenate([positions + positions + number(positions, 1), flat + flat], 0)
    order = lax.iota(np.int32, size + count)
    return lax.sort((keys, order), num_keys=1, is_stable=True)[1]
