"""Primitives that rearrange, slice, join and divide arrays."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Any

from dovetail_core import Primitive, ShapedArray, here, typeof

from ..errors import OutOfBounds, ShapeError
from .traits import describe

Shape = tuple[int, ...]

reshape_p = Primitive("reshape")
transpose_p = Primitive("transpose")
broadcast_in_dim_p = Primitive("broadcast_in_dim").def_traits(shrinks_back=True)
squeeze_p = Primitive("squeeze")
rev_p = Primitive("rev")


def permutation_checked(name: str, argument: str, permutation: Shape, shape: Shape) -> None:
    """Raise unless ``permutation`` orders all axes of ``shape``."""
    n = len(shape)
    if sorted(permutation) != list(range(n)):
        raise ShapeError(
            f"lax.{name} got {argument} {permutation} for an operand of shape {shape}{here()}: it "
            "must be a permutation of the axes. Name each of "
            f"{', '.join(map(str, range(n))) or 'no axes'} once."
        )


def axes_checked(name: str, argument: str, axes: Shape, shape: Shape) -> None:
    """Raise unless ``axes`` are distinct axes of ``shape``."""
    if len(set(axes)) != len(axes):
        raise ShapeError(
            f"lax.{name} got {argument} {axes}{here()}: an axis is repeated. Name each axis once."
        )
    if any(not 0 <= a < len(shape) for a in axes):
        raise OutOfBounds(
            f"lax.{name} got {argument} {axes} for an operand of shape {shape}{here()}: an axis "
            f"is out of bounds. Axes must be at least 0 and less than {len(shape)}."
        )


@reshape_p.def_abstract_eval
def _reshape(x: ShapedArray, *, new_sizes: Shape, dimensions: Shape | None = None) -> ShapedArray:
    if any(d < 0 for d in new_sizes):
        raise ShapeError(
            f"lax.reshape got new_sizes {new_sizes}{here()}: sizes must not be negative. Write "
            f"the size out (an operand of shape {x.shape} has {x.size} elements), or use "
            "dovetail.numpy.reshape, which computes one."
        )
    if prod(new_sizes) != x.size:
        raise ShapeError(
            f"lax.reshape got an operand of shape {x.shape} and new_sizes {new_sizes}{here()}: "
            f"{x.size} elements do not fit. Give sizes whose product is {x.size}."
        )
    if dimensions is not None:
        permutation_checked("reshape", "dimensions", dimensions, x.shape)
    return ShapedArray(new_sizes, x.dtype, x.weak_type)


@transpose_p.def_abstract_eval
def _transpose(x: ShapedArray, *, permutation: Shape) -> ShapedArray:
    permutation_checked("transpose", "permutation", permutation, x.shape)
    return ShapedArray(tuple([x.shape[i] for i in permutation]), x.dtype, x.weak_type)


@broadcast_in_dim_p.def_abstract_eval
def _broadcast_in_dim(x: ShapedArray, *, shape: Shape, broadcast_dimensions: Shape) -> ShapedArray:
    dims = broadcast_dimensions
    given = f"an operand of shape {x.shape}, shape {shape} and broadcast_dimensions {dims}"
    if len(dims) != len(x.shape):
        raise ShapeError(
            f"lax.broadcast_in_dim got {given}{here()}: broadcast_dimensions must say "
            f"for each of the operand's {len(x.shape)} axes which axis of the result it becomes."
        )
    if any(d < 0 for d in shape):
        raise ShapeError(f"lax.broadcast_in_dim got {given}{here()}: sizes must not be negative.")
    if any(a >= b for a, b in pairwise(dims)) or any(not 0 <= d < len(shape) for d in dims):
        raise ShapeError(
            f"lax.broadcast_in_dim got {given}{here()}: broadcast_dimensions must increase, "
            f"be at least 0 and less than {len(shape)}. Transpose the operand first to change the "
            "order of axes."
        )
    if any(n not in (1, shape[d]) for n, d in zip(x.shape, dims)):
        raise ShapeError(
            f"lax.broadcast_in_dim got {given}{here()}: each axis of the operand must have "
            "size 1 or the size of the axis that it becomes."
        )
    return ShapedArray(shape, x.dtype, x.weak_type)


@squeeze_p.def_abstract_eval
def _squeeze(x: ShapedArray, *, dimensions: Shape) -> ShapedArray:
    axes_checked("squeeze", "dimensions", dimensions, x.shape)
    if any(x.shape[d] != 1 for d in dimensions):
        raise ShapeError(
            f"lax.squeeze got dimensions {dimensions} for an operand of shape {x.shape}{here()}: "
            "an axis has another size than 1. Only axes of size 1 can be squeezed out."
        )
    left = [n for i, n in enumerate(x.shape) if i not in dimensions]
    return ShapedArray(left, x.dtype, x.weak_type)


@rev_p.def_abstract_eval
def _rev(x: ShapedArray, *, dimensions: Shape) -> ShapedArray:
    axes_checked("rev", "dimensions", dimensions, x.shape)
    return x


slice_p = Primitive("slice")
dynamic_slice_p = Primitive("dynamic_slice")
dynamic_update_slice_p = Primitive("dynamic_update_slice")


@slice_p.def_abstract_eval
def _slice(
    x: ShapedArray, *, start_indices: Shape, limit_indices: Shape, strides: Shape | None
) -> ShapedArray:
    steps = (1,) * len(x.shape) if strides is None else strides
    given = (
        f"lax.slice got an operand of shape {x.shape}, start_indices {start_indices}, "
        f"limit_indices {limit_indices} and strides {strides}"
    )
    if not len(start_indices) == len(limit_indices) == len(steps) == len(x.shape):
        raise ShapeError(f"{given}{here()}: give one number for each of the {len(x.shape)} axes.")
    if any(s < 1 for s in steps):
        raise ShapeError(f"{given}{here()}: strides must be at least 1. Use rev to reverse.")
    if any(not 0 <= a <= b <= n for a, b, n in zip(start_indices, limit_indices, x.shape)):
        raise ShapeError(f"{given}{here()}: on each axis 0 <= start <= limit <= size must hold.")
    sizes = [-((a - b) // s) for a, b, s in zip(start_indices, limit_indices, steps)]
    return ShapedArray(sizes, x.dtype, x.weak_type)


def _starts_checked(name: str, x: ShapedArray, starts: tuple[ShapedArray, ...]) -> None:
    if len(starts) != len(x.shape):
        raise ShapeError(
            f"lax.{name} got {len(starts)} start indices for an operand of shape "
            f"{x.shape}{here()}: give one for each of its {len(x.shape)} axes."
        )
    if any(i.shape != () for i in starts):
        raise ShapeError(
            f"lax.{name} got start indices of types {_types(starts)}{here()}: each must be a "
            "scalar. Use gather, or vmap, to read several boxes."
        )
    if any(i.dtype.kind not in "iu" or i.dtype != starts[0].dtype for i in starts):
        raise TypeError(
            f"lax.{name} got start indices of types {_types(starts)}{here()}: they must be "
            "integers of one dtype. Convert them (convert_element_type)."
        )


def _types(avals: tuple[ShapedArray, ...]) -> str:
    return ", ".join(a.str_short() for a in avals)


@dynamic_slice_p.def_abstract_eval
def _dynamic_slice(x: ShapedArray, *starts: ShapedArray, slice_sizes: Shape) -> ShapedArray:
    _starts_checked("dynamic_slice", x, starts)
    fits = len(slice_sizes) == len(x.shape)
    if not fits or any(not 0 <= s <= n for s, n in zip(slice_sizes, x.shape)):
        raise ShapeError(
            f"lax.dynamic_slice got slice_sizes {slice_sizes} for an operand of shape {x.shape}"
            f"{here()}: give one size for each axis, at least 0 and at most the axis's."
        )
    return ShapedArray(slice_sizes, x.dtype, x.weak_type)


@dynamic_update_slice_p.def_abstract_eval
def _dynamic_update_slice(x: ShapedArray, update: ShapedArray, *starts: ShapedArray) -> ShapedArray:
    _starts_checked("dynamic_update_slice", x, starts)
    if x.dtype != update.dtype:
        raise TypeError(
            f"lax.dynamic_update_slice got an operand of dtype {x.dtype.name} and an update of "
            f"dtype {update.dtype.name}{here()}: they must be equal. Convert the update to "
            f"{x.dtype.name}."
        )
    fits = len(update.shape) == len(x.shape)
    if not fits or any(u > n for u, n in zip(update.shape, x.shape)):
        raise ShapeError(
            f"lax.dynamic_update_slice got an update of shape {update.shape} for an operand of "
            f"shape {x.shape}{here()}: it must have as many axes, none longer than the operand's."
        )
    return x.strong()


Padding = tuple[tuple[int, int, int], ...]

concatenate_p = Primitive("concatenate")
pad_p = Primitive("pad")
split_p = Primitive("split", multiple_results=True)
stack_p = Primitive("stack")
unstack_p = Primitive("unstack", multiple_results=True)
tile_p = Primitive("tile")


def _same_types(name: str, operands: tuple[ShapedArray, ...]) -> None:
    if not operands:
        raise ShapeError(f"lax.{name} needs at least one array, got none{here()}.")
    first = operands[0]
    if any(x.dtype != first.dtype for x in operands):
        raise TypeError(
            f"lax.{name} got arrays of dtypes "
            f"{', '.join(x.dtype.name for x in operands)}{here()}: they must be equal. Convert "
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
                f"{here()}: they may differ along dimension {dimension} only. Reshape, pad or "
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
            f"{value.dtype.name}{here()}: they must be equal. Convert the value to {x.dtype.name}."
        )
    if value.shape != ():
        raise ShapeError(
            f"lax.pad got a padding_value of shape {value.shape}{here()}: it must be a scalar."
        )
    if len(padding_config) != len(x.shape) or any(len(c) != 3 for c in padding_config):
        raise ShapeError(f"lax.pad got {given}{here()}: give (low, high, interior) for each axis.")
    if any(interior < 0 for _, _, interior in padding_config):
        raise ShapeError(f"lax.pad got {given}{here()}: interior padding must not be negative.")
    shape = tuple(
        [lo + hi + n + max(0, n - 1) * i for n, (lo, hi, i) in zip(x.shape, padding_config)]
    )
    if any(n < 0 for n in shape):
        raise ShapeError(
            f"lax.pad got {given}{here()}: the result would have the negative size {min(shape)}. "
            "Negative padding can remove no more elements than an axis has."
        )
    return ShapedArray(shape, x.dtype, x.weak_type and value.weak_type)


@split_p.def_abstract_eval
def _split(x: ShapedArray, *, sizes: Shape, axis: int) -> list[ShapedArray]:
    axes_checked("split", "axis", (axis,), x.shape)
    if sum(sizes) != x.shape[axis] or any(n < 0 for n in sizes):
        raise ShapeError(
            f"lax.split got sizes {sizes} for axis {axis} of an operand of shape "
            f"{x.shape}{here()}: they do not add up. Give sizes of at least 0 whose sum is "
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
            f"lax.stack got arrays of shapes {', '.join(str(x.shape) for x in operands)}{here()}: "
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
            f"lax.tile got reps {reps} for an operand of shape {x.shape}{here()}: give one number "
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
