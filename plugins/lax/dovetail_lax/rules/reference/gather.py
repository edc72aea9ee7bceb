"""Reference evaluation of gather: one window after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dovetail_backends import reference_rules

from ...primitives.gather import gather_p
from ...primitives.indexing import (
    GatherDimensionNumbers,
    GatherScatterMode,
    gathered_shape,
    window_axes,
)
from ...primitives.shape import Shape

Array = np.ndarray[Any, Any]
Index = tuple[Any, ...]


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
    places = [i for i in range(rank) if i not in dn.offset_dims]
    kept = tuple([sizes[i] for i in window_axes(dn, len(shape))])
    for at in np.ndindex(*indices.shape[:-1]):
        start = [0] * len(shape)
        for axis, component in zip(dn.start_index_map, indices[at]):
            start[axis] = int(component)
        for axis, place in zip(dn.operand_batching_dims, dn.start_indices_batching_dims):
            start[axis] = at[place]
        clipped = [min(max(s, 0), n - w) for s, n, w in zip(start, shape, sizes)]
        moves = mode in (GatherScatterMode.CLIP, GatherScatterMode.PROMISE_IN_BOUNDS)
        inside = moves or clipped == start
        where: list[Any] = [slice(None)] * rank
        for place, i in zip(places, at):
            where[place] = i
        box = tuple([slice(c, c + w) for c, w in zip(clipped, sizes)])
        yield tuple(where), box if inside else None, kept


@reference_rules.register(gather_p)
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
