"""Public functions that rearrange one array: reshape, transpose, collapse, squeeze, rev."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from dovetail_core import get_trace, type_shardings

from ..primitives._elementwise import place
from ..primitives.shape import reshape_p, rev_p, squeeze_p, transpose_p
from ._args import Array, ArrayLike
from ._shapes import axes_in, ints, on_host, shape_of


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
            f"shape {shape} are no range{place()}. The second must not be before the first."
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
