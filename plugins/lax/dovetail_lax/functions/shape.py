"""Public functions that rearrange, join and divide arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from dovetail_base.arguments import items
from dovetail_core import get_trace, here, type_shardings

from ..dtypes import dtype_of
from ..primitives.shape import (
    concatenate_p,
    pad_p,
    reshape_p,
    rev_p,
    split_p,
    squeeze_p,
    stack_p,
    tile_p,
    transpose_p,
    unstack_p,
)
from ..scalars import PYTHON_SCALARS, adapt
from .operands import Array, ArrayLike, axes_in, axis_in, ints, on_host, shape_of


def reshape(
    operand: ArrayLike,
    new_sizes: Sequence[int],
    dimensions: Sequence[int] | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """``operand`` in the shape ``new_sizes``, its elements in row-major order.

    Args:
        new_sizes: sizes, none negative, with as many elements as ``operand`` has.
        dimensions: the order in which the operand's axes are read (default: as they are).

    Raises:
        TypeError: the sizes do not fit, or ``dimensions`` is not a permutation.
    """
    sizes = ints("reshape", "new_sizes", new_sizes)
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding, reshape, operand, new_sizes, dimensions
        )
    if dimensions is not None:
        operand = transpose(operand, dimensions)
    if shape_of(operand) == sizes and not on_host(operand):
        return operand
    return get_trace().process(reshape_p, (operand,), {"new_sizes": sizes})


def transpose(operand: ArrayLike, permutation: Sequence[int]) -> Array:
    """``operand`` with its axes permuted: axis ``i`` of the result is axis ``permutation[i]``.

    Raises:
        TypeError: ``permutation`` is not a permutation of the operand's axes.
    """
    order = ints("transpose", "permutation", permutation)
    ndim = len(shape_of(operand))
    if order == tuple(range(ndim)) and not on_host(operand):
        return operand
    if order and min(order) < 0:
        order = axes_in("transpose", "permutation", order, ndim)
    return get_trace().process(transpose_p, (operand,), {"permutation": order})


def collapse(operand: ArrayLike, start_dimension: int, stop_dimension: int | None = None) -> Array:
    """``operand`` with the axes from ``start_dimension`` to before ``stop_dimension`` made one.

    Raises:
        ValueError: the range ends before it starts.
    """
    shape = shape_of(operand)
    ndim = len(shape)
    lo = _bound("start_dimension", start_dimension, ndim)
    hi = ndim if stop_dimension is None else _bound("stop_dimension", stop_dimension, ndim)
    if hi < lo:
        raise ValueError(
            f"lax.collapse: the axes from {start_dimension} to {stop_dimension} of an operand of "
            f"shape {shape} are no range{here()}. The second must not be before the first."
        )
    return reshape(operand, (*shape[:lo], prod(shape[lo:hi]), *shape[hi:]))


def _bound(argument: str, value: Any, ndim: int) -> int:
    at = ints("collapse", argument, (value,))[0]
    return max(0, min(ndim, at + ndim if at < 0 else at))


def squeeze(array: ArrayLike, dimensions: Sequence[int]) -> Array:
    """``array`` without the given axes, each of size 1.

    Raises:
        ValueError: an axis has another size, is repeated or out of bounds.
    """
    dims = axes_in("squeeze", "dimensions", dimensions, len(shape_of(array)))
    if not dims and not on_host(array):
        return array
    if len(dims) > 1:
        dims = tuple(sorted(dims))
    return get_trace().process(squeeze_p, (array,), {"dimensions": dims})


def rev(operand: ArrayLike, dimensions: Sequence[int]) -> Array:
    """``operand`` with the order of elements reversed along ``dimensions``.

    Raises:
        ValueError: an axis is repeated or out of bounds.
    """
    dims = axes_in("rev", "dimensions", dimensions, len(shape_of(operand)))
    return rev_p.bind(operand, dimensions=dims)


def concatenate(operands: ArrayLike, dimension: int) -> Array:
    """Arrays put one after the other along an existing axis.

    Args:
        operands: a sequence of arrays of one dtype, whose shapes differ along ``dimension`` only
            (or one array, whose rows are taken).

    Raises:
        TypeError: dtypes or shapes do not fit.
        ValueError: there are no arrays, or the axis is out of bounds.
    """
    arrays = tuple(operands)
    if not arrays:
        raise ValueError(f"lax.concatenate needs at least one array, got none{here()}.")
    if len(arrays) == 1 and not on_host(arrays[0]):
        axis_in("concatenate", "dimension", dimension, len(shape_of(arrays[0])))
        return arrays[0]
    if dimension.__class__ is not int or dimension < 0:
        dimension = axis_in("concatenate", "dimension", dimension, len(shape_of(arrays[0])))
    return get_trace().process(concatenate_p, arrays, {"dimension": dimension})


def stack(operands: Sequence[ArrayLike], axis: int = 0) -> Array:
    """Arrays of one shape and dtype put side by side along a new axis.

    Raises:
        TypeError: dtypes differ.
        ValueError: shapes differ, there are no arrays, or the axis is out of bounds.
    """
    arrays = tuple(operands)
    if not arrays:
        raise ValueError(f"lax.stack needs at least one array, got none{here()}.")
    at = axis_in("stack", "axis", axis, len(shape_of(arrays[0])) + 1)
    return stack_p.bind(*arrays, axis=at)


def unstack(x: ArrayLike, axis: int = 0) -> tuple[Array, ...]:
    """The arrays that ``x`` is a stack of along ``axis``.

    Raises:
        ValueError: the axis is out of bounds.
    """
    at = axis_in("unstack", "axis", axis, len(shape_of(x)))
    return tuple(unstack_p.bind(x, axis=at))


def tile(operand: ArrayLike, reps: Sequence[int]) -> Array:
    """``operand`` repeated ``reps[i]`` times along each axis ``i``.

    Raises:
        TypeError: ``reps`` has not one entry, at least 0, for each axis.
    """
    return tile_p.bind(operand, reps=ints("tile", "reps", reps))


def split(operand: ArrayLike, sizes: Sequence[int], axis: int = 0) -> list[Array]:
    """``operand`` cut along ``axis`` into parts of the given sizes.

    Raises:
        ValueError: the sizes do not add up to the axis's, or the axis is out of bounds.
    """
    at = axis_in("split", "axis", axis, len(shape_of(operand)))
    return split_p.bind(operand, sizes=ints("split", "sizes", sizes), axis=at)


def pad(
    operand: ArrayLike, padding_value: ArrayLike, padding_config: Sequence[tuple[int, int, int]]
) -> Array:
    """``operand`` with elements added before, after and between its own, or removed.

    Args:
        padding_value: a scalar of the operand's dtype (Python scalars adapt to it).
        padding_config: for each axis ``(low, high, interior)``: how many elements come before the
            first and after the last (negative: are removed there), and how many between any two.

    Raises:
        TypeError: the value's dtype is another, or it is no scalar.
        ValueError: the configuration does not fit the operand.
    """
    config = tuple(
        [ints("pad", "padding_config", c) for c in items("padding_config", padding_config)]
    )
    if padding_value.__class__ in PYTHON_SCALARS:
        padding_value = adapt(padding_value, dtype_of(operand))
    elif isinstance(padding_value, np.ndarray):
        padding_value = padding_value[()]  # a scalar becomes a literal of the program
    return pad_p.bind(operand, padding_value, padding_config=config)
