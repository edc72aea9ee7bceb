"""Samples of rearranging, joining, dividing and slicing arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from dovetail_testing import Sample

from ..primitives.shape import (
    broadcast_in_dim_p,
    concatenate_p,
    dynamic_slice_p,
    dynamic_update_slice_p,
    pad_p,
    reshape_p,
    rev_p,
    slice_p,
    split_p,
    squeeze_p,
    stack_p,
    tile_p,
    transpose_p,
    unstack_p,
)

DTYPES = tuple(
    np.dtype(t)
    for t in (np.float32, ml_dtypes.bfloat16, np.complex64, np.int32, np.uint8, np.bool_)
)
EMPTY = frozenset({"empty"})
EXTREME = frozenset({"extreme"})


def numbers(shape: tuple[int, ...], dtype: Any = np.float32, start: int = 1) -> Any:
    """An array of different numbers (of both kinds, for booleans)."""
    size = int(np.prod(shape, dtype=int))
    values = np.arange(start, start + size)
    if np.dtype(dtype) == np.bool_:
        return (values % 3 == 0).reshape(shape)
    result = values.astype(dtype).reshape(shape)
    return result + (0.5j * result).astype(dtype) if result.dtype.kind == "c" else result


def _rearranging() -> Iterator[Sample]:
    for dtype in DTYPES:
        x = numbers((2, 3, 4), dtype)
        yield Sample(reshape_p, (x,), {"new_sizes": (4, 6)})
        yield Sample(transpose_p, (x,), {"permutation": (2, 0, 1)})
        yield Sample(rev_p, (x,), {"dimensions": (0, 2)})
        row = numbers((3, 1), dtype)
        params: dict[str, Any] = {"shape": (2, 3, 5), "broadcast_dimensions": (1, 2)}
        yield Sample(broadcast_in_dim_p, (row,), params)
        yield Sample(squeeze_p, (numbers((1, 3, 1, 2), dtype),), {"dimensions": (0, 2)})
    x, none = numbers((2, 3)), numbers((0, 3))
    yield Sample(reshape_p, (x,), {"new_sizes": (1, 6, 1), "dimensions": (1, 0)})
    yield Sample(reshape_p, (numbers((1, 1)),), {"new_sizes": ()})
    yield Sample(reshape_p, (none,), {"new_sizes": (3, 0, 2)}, EMPTY)
    yield Sample(transpose_p, (numbers(()),), {"permutation": ()})
    yield Sample(transpose_p, (none,), {"permutation": (1, 0)}, EMPTY)
    yield Sample(broadcast_in_dim_p, (numbers(()),), {"shape": (3,), "broadcast_dimensions": ()})
    yield Sample(broadcast_in_dim_p, (2.0,), {"shape": (2, 2), "broadcast_dimensions": ()})
    params = {"shape": (0, 2, 3), "broadcast_dimensions": (1, 2)}
    yield Sample(broadcast_in_dim_p, (x,), params, EMPTY)
    yield Sample(squeeze_p, (numbers((1,)),), {"dimensions": (0,)})
    yield Sample(rev_p, (none,), {"dimensions": (0,)}, EMPTY)
    yield Sample(rev_p, (np.array([np.nan, -0.0, np.inf], np.float32),), {"dimensions": (0,)},
                 EXTREME)  # fmt: skip


def _joining() -> Iterator[Sample]:
    for dtype in DTYPES:
        x, y = numbers((2, 3), dtype), numbers((2, 1), dtype, 7)
        yield Sample(concatenate_p, (x, y, x), {"dimension": 1})
        yield Sample(stack_p, (x, x[::-1]), {"axis": 1})
        yield Sample(unstack_p, (x,), {"axis": 1})
        yield Sample(split_p, (numbers((2, 6), dtype),), {"sizes": (1, 0, 3, 2), "axis": 1})
        yield Sample(tile_p, (x,), {"reps": (2, 3)})
        config = ((1, -1, 2), (-1, 2, 0))
        yield Sample(pad_p, (x, numbers((), dtype, 9)), {"padding_config": config})
    x, none = numbers((3,)), numbers((0, 2))
    yield Sample(concatenate_p, (none, numbers((2, 2))), {"dimension": 0}, EMPTY)
    yield Sample(concatenate_p, (x,), {"dimension": 0})
    yield Sample(stack_p, (numbers(()), numbers((), start=5)), {"axis": 0})
    yield Sample(unstack_p, (x,), {"axis": 0})
    yield Sample(tile_p, (none,), {"reps": (2, 0)}, EMPTY)
    yield Sample(tile_p, (numbers(()),), {"reps": ()})
    zero = np.float32(0)
    yield Sample(pad_p, (x, zero), {"padding_config": ((-1, -2, 0),)}, EMPTY)
    yield Sample(pad_p, (x, zero), {"padding_config": ((-2, 1, 3),)})
    yield Sample(pad_p, (none, zero), {"padding_config": ((1, 2, 3), (0, 0, 1))}, EMPTY)
    yield Sample(pad_p, (numbers(()), zero), {"padding_config": ()})
    yield Sample(pad_p, (x, np.float32(np.inf)), {"padding_config": ((1, 0, 0),)}, EXTREME)


def _shape() -> Iterator[Sample]:
    """Samples of these primitives."""
    yield from _rearranging()
    yield from _joining()


def _slicing() -> Iterator[Sample]:
    """Samples of these primitives; some starts are outside, so that boxes are moved inside."""
    for dtype in DTYPES:
        x = numbers((4, 5), dtype)
        limits: dict[str, Any] = {"start_indices": (1, 0), "limit_indices": (4, 5)}
        yield Sample(slice_p, (x,), {**limits, "strides": (2, 3)})
        starts = np.int32(2), np.int32(-1)
        yield Sample(dynamic_slice_p, (x, *starts), {"slice_sizes": (3, 2)})
        yield Sample(dynamic_update_slice_p, (x, numbers((2, 3), dtype, 50), *starts))
    x = numbers((4, 5))
    empty: dict[str, Any] = {"start_indices": (0, 5), "limit_indices": (4, 5), "strides": None}
    yield Sample(slice_p, (x,), empty, EMPTY)
    nothing: dict[str, Any] = {"start_indices": (), "limit_indices": (), "strides": None}
    yield Sample(slice_p, (numbers(()),), nothing)
    yield Sample(dynamic_slice_p, (x, 1, 9), {"slice_sizes": (1, 5)})
    yield Sample(dynamic_slice_p, (x, np.uint8(200), np.uint8(1)), {"slice_sizes": (2, 2)})
    yield Sample(dynamic_slice_p, (x, 0, 0), {"slice_sizes": (0, 2)}, EMPTY)
    yield Sample(dynamic_slice_p, (numbers(()),), {"slice_sizes": ()})
    yield Sample(dynamic_update_slice_p, (x, numbers((0, 2)), 0, 0), {}, EMPTY)
    yield Sample(dynamic_update_slice_p, (numbers(()), np.float32(7)))
    yield Sample(dynamic_update_slice_p, (x, numbers((4, 1)), np.int8(-3), np.int8(100)))


def samples() -> Iterator[Sample]:
    """The samples of rearranging and joining, then those of slices."""
    yield from _shape()
    yield from _slicing()
