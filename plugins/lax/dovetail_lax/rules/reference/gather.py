"""Gather and scatter by NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from dovetail_backends import Effort, reference_rules
from dovetail_core import ClosedJaxpr, Primitive, eval_jaxpr

from ...primitives import gather as g
from ...primitives.gather import ScatterDimensionNumbers, as_gather, window_sizes
from ...primitives.indexing import (
    GatherDimensionNumbers,
    GatherScatterMode,
    gathered_shape,
    window_axes,
)
from ...primitives.shape import Shape

Array = np.ndarray[Any, Any]
Index = tuple[Any, ...]


def _count(in_avals: Sequence[Any], out_avals: Sequence[Any]) -> int:
    return prod(in_avals[1].shape[:-1])


per_window = Effort(_count)


def windows(
    shape: Shape,
    indices: Array,
    dn: GatherDimensionNumbers,
    sizes: Shape,
    mode: GatherScatterMode,
) -> Iterator[tuple[Index, Index | None, Shape]]:
    """For each index vector: where its window is in the result (of a gather, or the updates of a
    scatter), where in the operand (None: it does not count), and its shape in the result."""
    rank = indices.ndim - 1 + len(dn.offset_dims)
    positions = [i for i in range(rank) if i not in dn.offset_dims]
    kept = tuple([sizes[i] for i in window_axes(dn, len(shape))])
    for at in np.ndindex(*indices.shape[:-1]):
        start = [0] * len(shape)
        for axis, component in zip(dn.start_index_map, indices[at]):
            start[axis] = int(component)
        for axis, position in zip(dn.operand_batching_dims, dn.start_indices_batching_dims):
            start[axis] = at[position]
        clipped = [min(max(s, 0), n - w) for s, n, w in zip(start, shape, sizes)]
        moves = mode.clips or mode is GatherScatterMode.PROMISE_IN_BOUNDS
        inside = moves or clipped == start
        where: list[Any] = [slice(None)] * rank
        for position, i in zip(positions, at):
            where[position] = i
        box = tuple([slice(c, c + w) for c, w in zip(clipped, sizes)])
        yield tuple(where), box if inside else None, kept


@reference_rules.register(g.gather_p)
@per_window
def _gather(
    operand: Array,
    indices: Array,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
    fill_value: Any,
) -> Array:
    dn = dimension_numbers
    shape = gathered_shape(operand.shape, indices.shape, dn, slice_sizes)
    fill = 0 if fill_value is None else fill_value
    out = np.full(shape, np.asarray(fill).astype(operand.dtype), operand.dtype)
    for where, box, kept in windows(operand.shape, indices, dn, slice_sizes, mode):
        if box is not None:
            out[where] = operand[box].reshape(kept)
    return out


def _scatter(
    combine: Callable[[Array, Array], Any],
    operand: Array,
    indices: Array,
    updates: Array,
    *,
    dimension_numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
) -> Array:
    out = np.array(operand)
    if not out.size:  # whose windows are empty, and updates may not be
        return out
    sizes = window_sizes(operand.shape, updates.shape, dimension_numbers)
    dn = as_gather(dimension_numbers)
    if mode is GatherScatterMode.PROMISE_IN_BOUNDS:
        mode = GatherScatterMode.FILL_OR_DROP  # as StableHLO does
    for where, box, _ in windows(operand.shape, indices, dn, sizes, mode):
        if box is not None:
            old = out[box]
            with np.errstate(all="ignore"):
                new = combine(old, updates[where].reshape(old.shape))
            out[box] = np.asarray(new).astype(operand.dtype)
    return out


def _register(primitive: Primitive, combine: Callable[[Array, Array], Any]) -> None:
    def rule(operand: Array, indices: Array, updates: Array, **params: Any) -> Array:
        return _scatter(combine, operand, indices, updates, **params)

    reference_rules.set(primitive, per_window(rule))


_register(g.scatter_p, lambda old, new: new)
_register(g.scatter_add_p, np.add)
_register(g.scatter_sub_p, np.subtract)
_register(g.scatter_mul_p, np.multiply)
_register(g.scatter_min_p, np.minimum)
_register(g.scatter_max_p, np.maximum)


@reference_rules.register(g.scatter_apply_p)
@per_window
def _scatter_apply(
    operand: Array, indices: Array, updates: Array, *, update: ClosedJaxpr, **params: Any
) -> Array:
    def once(old: Array, _: Array) -> Array:
        new = [eval_jaxpr(update.jaxpr, update.consts, x)[0] for x in old.ravel()]
        return np.array([np.asarray(x) for x in new], old.dtype).reshape(old.shape)

    return _scatter(once, operand, indices, updates, **params)
