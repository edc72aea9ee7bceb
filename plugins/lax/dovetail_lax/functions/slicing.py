"""Public functions that read or replace one box of an array, at fixed or computed indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from dovetail_core import EVAL, get_trace, here, registry
from dovetail_xla.arrays import ArrayImpl

from ..dtypes import dtype_of
from ..primitives.shape import dynamic_slice_p, dynamic_update_slice_p, slice_p, squeeze_p
from ..scalars import PYTHON_SCALARS, adapt
from .broadcasting import expand_dims
from .operands import Array, ArrayLike, axis_in, checked_starts, ints, one_start, shape_of


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
    start = 0 if start_index is None else _clipped_bound("start_index", start_index, size)
    limit = size if limit_index is None else _clipped_bound("limit_index", limit_index, size)
    (step,) = ints("slice_in_dim", "stride", (stride,))
    before, after = (0,) * at, (0,) * (n - at - 1)
    params = {
        "start_indices": (*before, start, *after),
        "limit_indices": (*shape[:at], limit, *shape[at + 1 :]),
        "strides": None if step == 1 else (*(1,) * at, step, *(1,) * (n - at - 1)),
    }
    return get_trace().process(slice_p, (operand,), params)


def _clipped_bound(argument: str, value: Any, size: int) -> int:
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
            f"operand of shape {shape}{here()}."
        )
    at += size if at < 0 else 0
    row = slice_in_dim(operand, at, at + 1, 1, dim)
    return row if keepdims else squeeze_p.bind(row, dimensions=(dim,))


F = TypeVar("F", bound=Callable[..., Any])
_ARRAYS = (ArrayImpl, np.ndarray)


def _is_operand(x: Any) -> bool:
    return x.__class__ in _ARRAYS or (x.__class__ is int and -(2**31) <= x < 2**31)


def of_array_and_index(*static: str) -> Callable[[F], F]:
    """Decorator: a function of an array, an index, and arguments that are ``static``.

    The plugin that evaluates compiles it, by the provider ``fuser``. Other operands than arrays and
    integers that every index type holds are given to the function as it is.
    """

    def decorate(f: F) -> F:
        compiled: list[Any] = []

        def unless(operand: Any = None, index: Any = None, *rest: Any, **named: Any) -> bool:
            return operand.__class__ not in _ARRAYS or not _is_operand(index)

        def made() -> Any:
            fuser = registry().provider("fuser", default=None)
            return f if fuser is None else fuser(static=static, unless=unless)(f)

        @wraps(f)
        def run(*args: Any, **kwargs: Any) -> Any:
            if get_trace() is not EVAL:
                return f(*args, **kwargs)
            if not compiled:
                compiled.append(made())
            return compiled[0](*args, **kwargs)

        return run  # type: ignore[return-value]

    return decorate


def dynamic_slice(
    operand: ArrayLike,
    start_indices: ArrayLike | Sequence[ArrayLike],
    slice_sizes: Sequence[int],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Array:
    """A box of fixed size at start indices that may be computed.

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
    """:func:`dynamic_slice` along one axis; other axes are taken in full."""
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

    An index that is out of bounds selects the nearest row.
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
    """``operand`` with a box replaced by ``update``, at start indices that may be computed.

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
