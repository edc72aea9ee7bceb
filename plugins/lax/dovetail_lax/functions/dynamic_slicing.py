"""Public functions that read or replace one box of an array at a place that may be computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import get_trace

from ..dtypes import dtype_of
from ..primitives.shape import dynamic_slice_p, dynamic_update_slice_p, squeeze_p
from ..scalars import PYTHON_SCALARS, adapt
from ._args import Array, ArrayLike
from ._at_rest import of_array_and_index
from ._shapes import axis_in, ints, shape_of
from ._starts import checked_starts, one_start
from .broadcasting import expand_dims


def dynamic_slice(
    operand: ArrayLike,
    start_indices: ArrayLike | Sequence[ArrayLike],
    slice_sizes: Sequence[int],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Array:
    """A box of fixed size at a place that may be computed.

    A start that would put a part of the box outside of the operand is moved inside.

    Args:
        start_indices: an integer for each axis, as a sequence or an array of one axis.
        slice_sizes: the shape of the box.
        allow_negative_indices: whether negative starts count from the end; per axis if a sequence.

    Raises:
        TypeError: the box is larger than the operand, or the starts are no integers of one dtype.
        ValueError: there is not one start for each axis.
    """
    starts = checked_starts(
        "dynamic_slice", shape_of(operand), start_indices, allow_negative_indices
    )
    sizes = ints("dynamic_slice", "slice_sizes", slice_sizes)
    return get_trace().process(dynamic_slice_p, (operand, *starts), {"slice_sizes": sizes})


def dynamic_slice_in_dim(
    operand: ArrayLike,
    start_index: ArrayLike,
    slice_size: int,
    axis: int = 0,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """:func:`dynamic_slice` along one axis; other axes are taken whole."""
    shape = shape_of(operand)
    at = axis_in("dynamic_slice_in_dim", "axis", axis, len(shape))
    (size,) = ints("dynamic_slice_in_dim", "slice_size", (slice_size,))
    starts = one_start(shape, at, start_index, allow_negative_indices)
    sizes = (*shape[:at], size, *shape[at + 1 :])
    return get_trace().process(dynamic_slice_p, (operand, *starts), {"slice_sizes": sizes})


@of_array_and_index("axis", "keepdims", "allow_negative_indices")
def dynamic_index_in_dim(
    operand: ArrayLike,
    index: ArrayLike,
    axis: int = 0,
    keepdims: bool = True,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """The row ``index`` along one axis, which stays with size 1 if ``keepdims``.

    An index that is out of bounds means the nearest row.
    """
    at = axis_in("dynamic_index_in_dim", "axis", axis, len(shape_of(operand)))
    row = dynamic_slice_in_dim(operand, index, 1, at, allow_negative_indices=allow_negative_indices)
    return row if keepdims else squeeze_p.bind(row, dimensions=(at,))


def dynamic_update_slice(
    operand: ArrayLike,
    update: ArrayLike,
    start_indices: ArrayLike | Sequence[ArrayLike],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Array:
    """``operand`` with a box replaced by ``update``, at a place that may be computed.

    Args:
        update: of the operand's dtype and rank, on no axis longer than it.
        start_indices: as for :func:`dynamic_slice`; the box is moved inside likewise.

    Raises:
        TypeError: the update does not fit, or the starts are no integers of one dtype.
        ValueError: there is not one start for each axis.
    """
    shape = shape_of(operand)
    starts = checked_starts("dynamic_update_slice", shape, start_indices, allow_negative_indices)
    return _update(operand, update, starts)


def _update(operand: Any, update: Any, starts: Sequence[Any]) -> Any:
    if update.__class__ in PYTHON_SCALARS:
        update = adapt(update, dtype_of(operand))
    return get_trace().process(dynamic_update_slice_p, (operand, update, *starts), {})


def dynamic_update_slice_in_dim(
    operand: ArrayLike,
    update: ArrayLike,
    start_index: ArrayLike,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """:func:`dynamic_update_slice` at ``start_index`` along one axis and at 0 along others."""
    shape = shape_of(operand)
    at = axis_in("dynamic_update_slice_in_dim", "axis", axis, len(shape))
    starts = one_start(shape, at, start_index, allow_negative_indices)
    return _update(operand, update, starts)


def dynamic_update_index_in_dim(
    operand: ArrayLike,
    update: ArrayLike,
    index: ArrayLike,
    axis: int,
    *,
    allow_negative_indices: bool = True,
) -> Array:
    """``operand`` with the row ``index`` along ``axis`` replaced.

    Args:
        update: of the operand's shape, with size 1 on the axis or without it.
    """
    shape = shape_of(operand)
    at = axis_in("dynamic_update_index_in_dim", "axis", axis, len(shape))
    if update.__class__ in PYTHON_SCALARS:
        update = adapt(update, dtype_of(operand))
    if len(shape_of(update)) != len(shape):
        update = expand_dims(update, (at,))
    return dynamic_update_slice_in_dim(
        operand, update, index, at, allow_negative_indices=allow_negative_indices
    )
