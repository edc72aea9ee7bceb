"""Primitives that rearrange one array, and that read or replace one box of it."""

from __future__ import annotations

from itertools import pairwise
from math import prod

from dovetail_core import Primitive, ShapedArray

from ..errors import OutOfBounds, ShapeError
from ._elementwise import place
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
            f"lax.{name} got {argument} {permutation} for an operand of shape {shape}{place()}: it "
            "must be a permutation of the axes. Name each of "
            f"{', '.join(map(str, range(n))) or 'no axes'} once."
        )


def axes_checked(name: str, argument: str, axes: Shape, shape: Shape) -> None:
    """Raise unless ``axes`` are distinct axes of ``shape``."""
    if len(set(axes)) != len(axes):
        raise ShapeError(
            f"lax.{name} got {argument} {axes}{place()}: an axis is repeated. Name each axis once."
        )
    if any(not 0 <= a < len(shape) for a in axes):
        raise OutOfBounds(
            f"lax.{name} got {argument} {axes} for an operand of shape {shape}{place()}: an axis "
            f"is out of bounds. Axes must be at least 0 and less than {len(shape)}."
        )


@reshape_p.def_abstract_eval
def _reshape(x: ShapedArray, *, new_sizes: Shape, dimensions: Shape | None = None) -> ShapedArray:
    if any(d < 0 for d in new_sizes):
        raise ShapeError(
            f"lax.reshape got new_sizes {new_sizes}{place()}: sizes must not be negative. Write "
            f"the size out (an operand of shape {x.shape} has {x.size} elements), or use "
            "dovetail.numpy.reshape, which computes one."
        )
    if prod(new_sizes) != x.size:
        raise ShapeError(
            f"lax.reshape got an operand of shape {x.shape} and new_sizes {new_sizes}{place()}: "
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
            f"lax.broadcast_in_dim got {given}{place()}: broadcast_dimensions must say "
            f"for each of the operand's {len(x.shape)} axes which axis of the result it becomes."
        )
    if any(d < 0 for d in shape):
        raise ShapeError(f"lax.broadcast_in_dim got {given}{place()}: sizes must not be negative.")
    if any(a >= b for a, b in pairwise(dims)) or any(not 0 <= d < len(shape) for d in dims):
        raise ShapeError(
            f"lax.broadcast_in_dim got {given}{place()}: broadcast_dimensions must increase, "
            f"be at least 0 and less than {len(shape)}. Transpose the operand first to change the "
            "order of axes."
        )
    if any(n not in (1, shape[d]) for n, d in zip(x.shape, dims)):
        raise ShapeError(
            f"lax.broadcast_in_dim got {given}{place()}: each axis of the operand must have "
            "size 1 or the size of the axis that it becomes."
        )
    return ShapedArray(shape, x.dtype, x.weak_type)


@squeeze_p.def_abstract_eval
def _squeeze(x: ShapedArray, *, dimensions: Shape) -> ShapedArray:
    axes_checked("squeeze", "dimensions", dimensions, x.shape)
    if any(x.shape[d] != 1 for d in dimensions):
        raise ShapeError(
            f"lax.squeeze got dimensions {dimensions} for an operand of shape {x.shape}{place()}: "
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
        raise ShapeError(f"{given}{place()}: give one number for each of the {len(x.shape)} axes.")
    if any(s < 1 for s in steps):
        raise ShapeError(f"{given}{place()}: strides must be at least 1. Use rev to reverse.")
    if any(not 0 <= a <= b <= n for a, b, n in zip(start_indices, limit_indices, x.shape)):
        raise ShapeError(f"{given}{place()}: on each axis 0 <= start <= limit <= size must hold.")
    sizes = [-((a - b) // s) for a, b, s in zip(start_indices, limit_indices, steps)]
    return ShapedArray(sizes, x.dtype, x.weak_type)


def _starts_checked(name: str, x: ShapedArray, starts: tuple[ShapedArray, ...]) -> None:
    if len(starts) != len(x.shape):
        raise ShapeError(
            f"lax.{name} got {len(starts)} start indices for an operand of shape "
            f"{x.shape}{place()}: give one for each of its {len(x.shape)} axes."
        )
    if any(i.shape != () for i in starts):
        raise ShapeError(
            f"lax.{name} got start indices of types {_types(starts)}{place()}: each must be a "
            "scalar. Use gather, or vmap, to read at several places."
        )
    if any(i.dtype.kind not in "iu" or i.dtype != starts[0].dtype for i in starts):
        raise TypeError(
            f"lax.{name} got start indices of types {_types(starts)}{place()}: they must be "
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
            f"{place()}: give one size for each axis, at least 0 and at most the axis's."
        )
    return ShapedArray(slice_sizes, x.dtype, x.weak_type)


@dynamic_update_slice_p.def_abstract_eval
def _dynamic_update_slice(x: ShapedArray, update: ShapedArray, *starts: ShapedArray) -> ShapedArray:
    _starts_checked("dynamic_update_slice", x, starts)
    if x.dtype != update.dtype:
        raise TypeError(
            f"lax.dynamic_update_slice got an operand of dtype {x.dtype.name} and an update of "
            f"dtype {update.dtype.name}{place()}: they must be equal. Convert the update to "
            f"{x.dtype.name}."
        )
    fits = len(update.shape) == len(x.shape)
    if not fits or any(u > n for u, n in zip(update.shape, x.shape)):
        raise ShapeError(
            f"lax.dynamic_update_slice got an update of shape {update.shape} for an operand of "
            f"shape {x.shape}{place()}: it must have as many axes, none longer than the operand's."
        )
    return x.strong()


describe(__name__)
