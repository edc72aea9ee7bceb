"""Public functions that read or replace one box of an array, at fixed or computed places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import get_trace

from ..primitives._elementwise import place
from ..primitives.shape import slice_p, squeeze_p
from ._args import Array, ArrayLike
from ._shapes import axis_in, ints, shape_of


def slice(
    operand: ArrayLike,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Array:
    """``operand[start:limit:stride]`` with one start, limit and stride for each axis.

    Raises:
        TypeError: ``0 <= start <= limit <= size`` or ``stride >= 1`` does not hold on some axis.
    """
    steps, starts = None, ints("slice", "start_indices", start_indices)
    if strides is not None:
        steps = ints("slice", "strides", strides)
        if steps == (1,) * len(steps) and len(steps) == len(starts):
            steps = None
    params = {
        "start_indices": starts,
        "limit_indices": ints("slice", "limit_indices", limit_indices),
        "strides": steps,
    }
    return get_trace().process(slice_p, (operand,), params)


def slice_in_dim(
    operand: ArrayLike,
    start_index: int | None,
    limit_index: int | None,
    stride: int = 1,
    axis: int = 0,
) -> Array:
    """``operand[start_index:limit_index:stride]`` along one axis.

    Negative indices count from the end; None means from the beginning, or to the end.

    Raises:
        TypeError: the range is not inside of the axis.
        ValueError: the axis is out of bounds.
    """
    shape = shape_of(operand)
    n = len(shape)
    at = axis_in("slice_in_dim", "axis", axis, n)
    size = shape[at]
    start = 0 if start_index is None else _place("start_index", start_index, size)
    limit = size if limit_index is None else _place("limit_index", limit_index, size)
    (step,) = ints("slice_in_dim", "stride", (stride,))
    before, after = (0,) * at, (0,) * (n - at - 1)
    params = {
        "start_indices": (*before, start, *after),
        "limit_indices": (*shape[:at], limit, *shape[at + 1 :]),
        "strides": None if step == 1 else (*(1,) * at, step, *(1,) * (n - at - 1)),
    }
    return get_trace().process(slice_p, (operand,), params)


def _place(argument: str, value: Any, size: int) -> int:
    (at,) = ints("slice_in_dim", argument, (value,))
    return at + size if at < 0 else at


def index_in_dim(operand: ArrayLike, index: int, axis: int = 0, keepdims: bool = True) -> Array:
    """``operand[index]`` along one axis, which stays with size 1 if ``keepdims``.

    Raises:
        IndexError: the index is out of bounds.
        ValueError: the axis is out of bounds.
    """
    shape = shape_of(operand)
    dim = axis_in("index_in_dim", "axis", axis, len(shape))
    (at,) = ints("index_in_dim", "index", (index,))
    size = shape[dim]
    if not -size <= at < size:
        raise IndexError(
            f"lax.index_in_dim: index {at} is out of bounds for axis {dim}, of size {size}, of an "
            f"operand of shape {shape}{place()}."
        )
    at += size if at < 0 else 0
    row = slice_in_dim(operand, at, at + 1, 1, dim)
    return row if keepdims else squeeze_p.bind(row, dimensions=(dim,))
