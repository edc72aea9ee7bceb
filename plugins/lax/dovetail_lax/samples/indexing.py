"""Samples of gather and the scatter family, in all modes."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Any, NamedTuple

import numpy as np

from dovetail_core import Primitive, ShapedArray, stage_closed
from dovetail_testing import Sample

from ..primitives.arithmetic import mul_p
from ..primitives.gather import (
    as_scatter,
    gather_p,
    scatter_add_p,
    scatter_apply_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from ..primitives.indexing import GatherDimensionNumbers, GatherScatterMode, gathered_shape
from .shape import DTYPES, EMPTY, numbers

CLIP, FILL, INSIDE = (GatherScatterMode.CLIP, GatherScatterMode.FILL_OR_DROP,
                      GatherScatterMode.PROMISE_IN_BOUNDS)  # fmt: skip


class Windows(NamedTuple):
    """Windows in an operand of shape (4, 5)."""

    indices: Any
    numbers: GatherDimensionNumbers
    sizes: tuple[int, ...] = (1, 1)


def _ints(values: Any, dtype: Any = np.int32) -> Any:
    return np.array(values, dtype)


ROWS = GatherDimensionNumbers((1,), (0,), (0,))
POINTS = GatherDimensionNumbers((), (0, 1), (0, 1))
BOXES = GatherDimensionNumbers((0, 2), (), (1, 0))  # index vectors are (column, row)
PAIRED = GatherDimensionNumbers((1,), (), (1,), (0,), (0,))  # in each row one piece
FULL = GatherDimensionNumbers((0, 1), (), (0, 1))

DISJOINT = (
    Windows(_ints([[2], [0], [3]]), ROWS, (1, 5)),
    Windows(_ints([[[0, 1]], [[3, 2]]]), BOXES, (2, 2)),
    Windows(_ints([[3], [0], [1], [2]]), PAIRED, (1, 2)),
    Windows(_ints([[1, 1], [3, 4], [0, 2]], np.uint8), POINTS),
    Windows(_ints([1, 2]), FULL, (2, 3)),
)
# The same after they have been moved inside.
OUTSIDE = (
    Windows(_ints([[2], [-9], [12]]), ROWS, (1, 5)),
    Windows(_ints([[[-7, 1]], [[3, 9]]]), BOXES, (2, 2)),
    Windows(_ints([[4], [0], [100], [-2]], np.int8), PAIRED, (1, 2)),
    Windows(_ints([[1, 1], [3, 250], [0, 2]], np.uint8), POINTS),
    Windows(_ints([3, 3]), FULL, (2, 3)),
)
OVERLAPPING = (
    Windows(_ints([[2], [0], [2], [2]]), ROWS, (1, 5)),
    Windows(_ints([[[0, 1]], [[1, 2]]]), BOXES, (2, 2)),
)
NOWHERE = Windows(np.zeros((0, 1), np.int32), ROWS, (1, 5))
UNMAPPED = Windows(np.zeros((3, 0), np.int32), GatherDimensionNumbers((0, 2), (), ()), (4, 5))


def _gather(
    x: Any,
    at: Windows,
    mode: GatherScatterMode,
    fill_value: Any = None,
    tags: Set[str] = frozenset(),
) -> Sample:
    params = {
        "dimension_numbers": at.numbers,
        "slice_sizes": at.sizes,
        "indices_are_sorted": False,
        "unique_indices": False,
        "mode": mode,
        "fill_value": 1 if fill_value is None and mode is FILL else fill_value,
    }
    return Sample(gather_p, (x, at.indices), params, tags)


def _gathers() -> Iterator[Sample]:
    x = numbers((4, 5))
    for mode in GatherScatterMode:
        for at in DISJOINT if mode is INSIDE else OUTSIDE:
            yield _gather(x, at, mode)
    for dtype in DTYPES:
        yield _gather(numbers((4, 5), dtype), OUTSIDE[0], FILL)
    yield _gather(x, OUTSIDE[3], FILL, np.nan, frozenset({"extreme"}))
    yield _gather(x, NOWHERE, CLIP, tags=EMPTY)
    yield _gather(x, UNMAPPED, FILL)


def _scatter(
    primitive: Primitive,
    x: Any,
    at: Windows,
    mode: GatherScatterMode,
    tags: Set[str] = frozenset(),
    **more: Any,
) -> Sample:
    shape = gathered_shape(x.shape, at.indices.shape, at.numbers, at.sizes)
    updates = numbers(shape, x.dtype, 3)
    if x.dtype.kind in "fc":
        updates = updates + x.dtype.type(0.25)  # not equal to elements of the operand
    params = {
        "dimension_numbers": as_scatter(at.numbers),
        "indices_are_sorted": False,
        "unique_indices": True,
        "mode": mode,
        **more,
    }
    return Sample(primitive, (x, at.indices, updates), params, tags)


FAMILY = (scatter_p, scatter_add_p, scatter_sub_p, scatter_mul_p, scatter_min_p, scatter_max_p)
ARITHMETIC = (scatter_add_p, scatter_sub_p, scatter_mul_p)


def _scatters(primitive: Primitive) -> Iterator[Sample]:
    x = numbers((4, 5))
    for mode in GatherScatterMode:
        for at in DISJOINT if mode is INSIDE else OUTSIDE:
            yield _scatter(primitive, x, at, mode)
    for dtype in DTYPES:
        if dtype == np.bool_ and primitive in ARITHMETIC:
            continue
        yield _scatter(primitive, numbers((4, 5), dtype), OUTSIDE[0], CLIP)
    # Products of updates that overlap are not differentiable: those samples are integers.
    dtype = np.int32 if primitive is scatter_mul_p else np.float32
    for at in OVERLAPPING:
        yield _scatter(primitive, numbers((4, 5), dtype), at, FILL, unique_indices=False)
    yield _scatter(primitive, x, NOWHERE, CLIP, EMPTY)


def _applications() -> Iterator[Sample]:
    two = np.int32(2)
    double = stage_closed(lambda x: [mul_p.bind(x, two)], [ShapedArray((), np.int32)])
    for at in (OUTSIDE[0], *OVERLAPPING):
        yield _scatter(scatter_apply_p, numbers((4, 5), np.int32), at, FILL,
                       unique_indices=False, update=double)  # fmt: skip


def samples() -> Iterator[Sample]:
    """Samples of these primitives."""
    yield from _gathers()
    for primitive in FAMILY:
        yield from _scatters(primitive)
    yield from _applications()
