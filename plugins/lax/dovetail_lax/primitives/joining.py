"""Primitives that put arrays together and take them apart: concatenate, stack, tile, split, pad."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive, ShapedArray, typeof

from ..errors import ShapeError
from ._elementwise import place
from .shape import Shape, axes_checked, broadcast_in_dim_p, reshape_p, slice_p, squeeze_p
from .traits import describe

Padding = tuple[tuple[int, int, int], ...]

concatenate_p = Primitive("concatenate")
pad_p = Primitive("pad")
split_p = Primitive("split", multiple_results=True)
stack_p = Primitive("stack")
unstack_p = Primitive("unstack", multiple_results=True)
tile_p = Primitive("tile")


def _same_types(name: str, operands: tuple[ShapedArray, ...]) -> None:
    if not operands:
        raise ShapeError(f"lax.{name} needs at least one array, got none{place()}.")
    first = operands[0]
    if any(x.dtype != first.dtype for x in operands):
        raise TypeError(
            f"lax.{name} got arrays of dtypes "
            f"{', '.join(x.dtype.name for x in operands)}{place()}: they must be equal. Convert "
            f"them (convert_element_type), or use dovetail.numpy.{name}, which promotes."
        )


@concatenate_p.def_abstract_eval
def _concatenate(*operands: ShapedArray, dimension: int) -> ShapedArray:
    _same_types("concatenate", operands)
    shape = operands[0].shape
    axes_checked("concatenate", "dimension", (dimension,), shape)
    before, after = shape[:dimension], shape[dimension + 1 :]
    for x in operands:
        if x.shape[:dimension] != before or x.shape[dimension + 1 :] != after:
            raise TypeError(
                f"lax.concatenate got arrays of shapes {', '.join(str(x.shape) for x in operands)}"
                f"{place()}: they may differ along dimension {dimension} only. Reshape, pad or "
                "broadcast them."
            )
    length = sum([x.shape[dimension] for x in operands])
    weak = all(x.weak_type for x in operands)
    return ShapedArray((*before, length, *after), operands[0].dtype, weak)


@pad_p.def_abstract_eval
def _pad(x: ShapedArray, value: ShapedArray, *, padding_config: Padding) -> ShapedArray:
    given = f"an operand of shape {x.shape} and padding_config {padding_config}"
    if x.dtype != value.dtype:
        raise TypeError(
            f"lax.pad got an operand of dtype {x.dtype.name} and a padding_value of dtype "
            f"{value.dtype.name}{place()}: they must be equal. Convert the value to {x.dtype.name}."
        )
    if value.shape != ():
        raise ShapeError(
            f"lax.pad got a padding_value of shape {value.shape}{place()}: it must be a scalar."
        )
    if len(padding_config) != len(x.shape) or any(len(c) != 3 for c in padding_config):
        raise ShapeError(f"lax.pad got {given}{place()}: give (low, high, interior) for each axis.")
    if any(interior < 0 for _, _, interior in padding_config):
        raise ShapeError(f"lax.pad got {given}{place()}: interior padding must not be negative.")
    shape = tuple(
        [lo + hi + n + max(0, n - 1) * i for n, (lo, hi, i) in zip(x.shape, padding_config)]
    )
    if any(n < 0 for n in shape):
        raise ShapeError(
            f"lax.pad got {given}{place()}: the result would have the negative size {min(shape)}. "
            "Negative padding can remove no more elements than an axis has."
        )
    return ShapedArray(shape, x.dtype, x.weak_type and value.weak_type)


@split_p.def_abstract_eval
def _split(x: ShapedArray, *, sizes: Shape, axis: int) -> list[ShapedArray]:
    axes_checked("split", "axis", (axis,), x.shape)
    if sum(sizes) != x.shape[axis] or any(n < 0 for n in sizes):
        raise ShapeError(
            f"lax.split got sizes {sizes} for axis {axis} of an operand of shape "
            f"{x.shape}{place()}: they do not add up. Give sizes of at least 0 whose sum is "
            f"{x.shape[axis]}."
        )
    before, after = x.shape[:axis], x.shape[axis + 1 :]
    return [ShapedArray((*before, n, *after), x.dtype, x.weak_type) for n in sizes]


@split_p.def_decomposition
def _split_by_slices(x: Any, *, sizes: Shape, axis: int) -> list[Any]:
    shape: Shape = x.shape
    parts: list[Any] = []
    at = 0
    for n in sizes:
        start = (0,) * axis + (at,) + (0,) * (len(shape) - axis - 1)
        limit = (*shape[:axis], at + n, *shape[axis + 1 :])
        parts.append(slice_p.bind(x, start_indices=start, limit_indices=limit, strides=None))
        at += n
    return parts


@stack_p.def_abstract_eval
def _stack(*operands: ShapedArray, axis: int) -> ShapedArray:
    _same_types("stack", operands)
    shape = operands[0].shape
    if any(x.shape != shape for x in operands):
        raise ShapeError(
            f"lax.stack got arrays of shapes {', '.join(str(x.shape) for x in operands)}{place()}: "
            "they must be equal. Reshape or broadcast them."
        )
    axes_checked("stack", "axis", (axis,), (1, *shape))
    weak = all(x.weak_type for x in operands)
    return ShapedArray((*shape[:axis], len(operands), *shape[axis:]), operands[0].dtype, weak)


@stack_p.def_decomposition
def _stack_by_concatenation(*operands: Any, axis: int) -> Any:
    old: Any = typeof(operands[0])
    shape = (*old.shape[:axis], 1, *old.shape[axis:])
    dims = tuple([i for i in range(len(shape)) if i != axis])
    rows = [broadcast_in_dim_p.bind(x, shape=shape, broadcast_dimensions=dims) for x in operands]
    return concatenate_p.bind(*rows, dimension=axis)


@unstack_p.def_abstract_eval
def _unstack(x: ShapedArray, *, axis: int) -> list[ShapedArray]:
    axes_checked("unstack", "axis", (axis,), x.shape)
    row = ShapedArray((*x.shape[:axis], *x.shape[axis + 1 :]), x.dtype, x.weak_type)
    return [row] * x.shape[axis]


@unstack_p.def_decomposition
def _unstack_by_split(x: Any, *, axis: int) -> list[Any]:
    parts = _split_by_slices(x, sizes=(1,) * x.shape[axis], axis=axis)
    return [squeeze_p.bind(p, dimensions=(axis,)) for p in parts]


@tile_p.def_abstract_eval
def _tile(x: ShapedArray, *, reps: Shape) -> ShapedArray:
    if len(reps) != len(x.shape) or any(r < 0 for r in reps):
        raise TypeError(
            f"lax.tile got reps {reps} for an operand of shape {x.shape}{place()}: give one number "
            "of at least 0 per axis, how often it is repeated."
        )
    return ShapedArray([n * r for n, r in zip(x.shape, reps)], x.dtype, x.weak_type)


@tile_p.def_decomposition
def _tile_by_broadcast(x: Any, *, reps: Shape) -> Any:
    # An axis of size n becomes two, of sizes (r, n), and then one of size r * n.
    pairs = tuple([d for r, n in zip(reps, x.shape) for d in (r, n)])
    dims = tuple(range(1, len(pairs), 2))
    tiled = broadcast_in_dim_p.bind(x, shape=pairs, broadcast_dimensions=dims)
    return reshape_p.bind(tiled, new_sizes=tuple([r * n for r, n in zip(reps, x.shape)]))


describe(__name__)
