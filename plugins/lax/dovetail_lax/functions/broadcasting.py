"""Public functions that repeat an array along new axes: the broadcasts and expand_dims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_base import arguments
from dovetail_core import get_trace, here, type_shardings

from ..primitives.shape import broadcast_in_dim_p
from .operands import Array, ArrayLike, Shape, axes_in, axis_in, ints, on_host, shape_of


def broadcast(operand: ArrayLike, sizes: Sequence[int], *, out_sharding: Any = None) -> Array:
    """``operand`` with new leading axes of the given sizes."""
    new = ints("broadcast", "sizes", sizes)
    shape = shape_of(operand)
    dims = range(len(new), len(new) + len(shape))
    return broadcast_in_dim(operand, new + shape, dims, out_sharding=out_sharding)


def broadcast_in_dim(
    operand: ArrayLike,
    shape: Sequence[int],
    broadcast_dimensions: Sequence[int],
    *,
    out_sharding: Any = None,
) -> Array:
    """``operand`` repeated to fill ``shape``.

    Args:
        shape: of the result.
        broadcast_dimensions: increasing; axis ``i`` of ``operand`` becomes axis
            ``broadcast_dimensions[i]`` of the result, and has its size or size 1.

    Raises:
        TypeError: shapes and dimensions do not fit together.
    """
    sizes = ints("broadcast_in_dim", "shape", shape)
    dims = ints("broadcast_in_dim", "broadcast_dimensions", broadcast_dimensions)
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding, broadcast_in_dim, operand, shape, broadcast_dimensions
        )
    if (
        dims in ((), tuple(range(len(sizes))))
        and shape_of(operand) == sizes
        and not on_host(operand)
    ):
        return operand
    if dims and min(dims) < 0:
        dims = axes_in("broadcast_in_dim", "broadcast_dimensions", dims, len(sizes))
    params = {"shape": sizes, "broadcast_dimensions": dims}
    return get_trace().process(broadcast_in_dim_p, (operand,), params)


def broadcast_shapes(*shapes: Sequence[int]) -> Shape:
    """The shape that arrays of these shapes broadcast to, by NumPy's rule.

    Raises:
        ValueError: they do not broadcast.
    """
    result = [ints("broadcast_shapes", "shapes", s) for s in shapes]
    ndim = max(map(len, result), default=0)
    aligned = [(1,) * (ndim - len(s)) + s for s in result]
    out: list[int] = []
    for sizes in zip(*aligned):
        others = {n for n in sizes if n != 1}
        if len(others) > 1:
            raise ValueError(
                f"Incompatible shapes for broadcasting: {', '.join(map(str, result))}{here()}. "
                f"Aligned at the last axis, sizes must be equal or 1, but {sorted(others)} meet: "
                "use reshape or expand_dims."
            )
        out.append(others.pop() if others else 1)
    return tuple(out)


def broadcast_to_rank(x: ArrayLike, rank: int) -> Array:
    """``x`` with leading axes of size 1 added until it has ``rank`` axes."""
    missing = arguments.integer("rank", rank) - len(shape_of(x))
    return expand_dims(x, range(missing)) if missing > 0 else x


def broadcast_like(arr: ArrayLike, like_arr: ArrayLike) -> Array:
    """``arr`` broadcast to the shape of ``like_arr``, by NumPy's rule.

    Raises:
        ValueError: the shapes do not fit.
    """
    shape, wanted = shape_of(arr), shape_of(like_arr)
    if broadcast_shapes(shape, wanted) != wanted:
        raise ValueError(
            f"lax.broadcast_like: an array of shape {shape} does not broadcast to {wanted}, the "
            f"shape of like_arr{here()}. Use reshape or expand_dims."
        )
    return broadcast_in_dim(arr, wanted, range(len(wanted) - len(shape), len(wanted)))


def expand_dims(array: ArrayLike, dimensions: Sequence[int]) -> Array:
    """``array`` with new axes of size 1, at the given indices of the result's axes.

    Raises:
        ValueError: an index is repeated or out of bounds.
    """
    old = shape_of(array)
    positions = ints("expand_dims", "dimensions", dimensions)
    if not positions and not on_host(array):
        return array
    ndim = len(old) + len(positions)
    new = {axis_in("expand_dims", "dimensions", d, ndim) for d in positions}
    if len(new) != len(positions):
        raise ValueError(
            f"lax.expand_dims got dimensions {positions}{here()}: an axis is repeated. Name each "
            "once."
        )
    dims = tuple([i for i in range(ndim) if i not in new])
    sizes = iter(old)
    shape = tuple([1 if i in new else next(sizes) for i in range(ndim)])
    return broadcast_in_dim_p.bind(array, shape=shape, broadcast_dimensions=dims)
