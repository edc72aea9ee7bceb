"""Rows that rearrange one array: reshape, transpose, broadcast_in_dim, squeeze, rev."""

from __future__ import annotations

from itertools import pairwise
from math import prod

from dovetail_core import Primitive, ShapedArray

from ._elementwise import place

Shape = tuple[int, ...]

reshape_p = Primitive("reshape")
transpose_p = Primitive("transpose")
broadcast_in_dim_p = Primitive("broadcast_in_dim")
squeeze_p = Primitive("squeeze")
rev_p = Primitive("rev")


def permutation_checked(name: str, argument: str, permutation: Shape, shape: Shape) -> None:
    """Raise unless ``permutation`` orders all axes of ``shape``."""
    n = len(shape)
    if sorted(permutation) != list(range(n)):
        raise TypeError(
            f"lax.{name} got {argument} {permutation} for an operand of shape {shape}{place()}: it "
            "must "
            "be a permutation of the axes. Name each of "
            f"{', '.join(map(str, range(n))) or 'no axes'} once."
        )


def axes_checked(name: str, argument: str, axes: Shape, shape: Shape) -> None:
    """Raise unless ``axes`` are distinct axes of ``shape``."""
    if len(set(axes)) != len(axes):
        raise ValueError(
            f"lax.{name} got {argument} {axes}{place()}: an axis is repeated. Name each axis once."
        )
    if any(not 0 <= a < len(shape) for a in axes):
        raise ValueError(
            f"lax.{name} got {argument} {axes} for an operand of shape {shape}{place()}: an axis "
            "is "
            f"out of bounds. Axes must be at least 0 and less than {len(shape)}."
        )


@reshape_p.def_abstract_eval
def _reshape(x: ShapedArray, *, new_sizes: Shape, dimensions: Shape | None = None) -> ShapedArray:
    if any(d < 0 for d in new_sizes):
        raise TypeError(
            f"lax.reshape got new_sizes {new_sizes}{place()}: sizes must not be negative. Write "
            "the "
            f"size out (an operand of shape {x.shape} has {x.size} elements), or use "
            "dovetail.numpy.reshape, which computes one."
        )
    if prod(new_sizes) != x.size:
        raise TypeError(
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
        raise TypeError(
            f"lax.broadcast_in_dim got {given}{place()}: broadcast_dimensions must say "
            f"for each of the operand's {len(x.shape)} axes which axis of the result it becomes."
        )
    if any(d < 0 for d in shape):
        raise TypeError(f"lax.broadcast_in_dim got {given}{place()}: sizes must not be negative.")
    if any(a >= b for a, b in pairwise(dims)) or any(not 0 <= d < len(shape) for d in dims):
        raise TypeError(
            f"lax.broadcast_in_dim got {given}{place()}: broadcast_dimensions must increase, "
            f"be at least 0 and less than {len(shape)}. Transpose the operand first to change the "
            "order of axes."
        )
    if any(n not in (1, shape[d]) for n, d in zip(x.shape, dims)):
        raise TypeError(
            f"lax.broadcast_in_dim got {given}{place()}: each axis of the operand must have "
            "size 1 or the size of the axis that it becomes."
        )
    return ShapedArray(shape, x.dtype, x.weak_type)


@squeeze_p.def_abstract_eval
def _squeeze(x: ShapedArray, *, dimensions: Shape) -> ShapedArray:
    axes_checked("squeeze", "dimensions", dimensions, x.shape)
    if any(x.shape[d] != 1 for d in dimensions):
        raise ValueError(
            f"lax.squeeze got dimensions {dimensions} for an operand of shape {x.shape}{place()}: "
            "an axis has another size than 1. Only axes of size 1 can be squeezed out."
        )
    left = [n for i, n in enumerate(x.shape) if i not in dimensions]
    return ShapedArray(left, x.dtype, x.weak_type)


@rev_p.def_abstract_eval
def _rev(x: ShapedArray, *, dimensions: Shape) -> ShapedArray:
    axes_checked("rev", "dimensions", dimensions, x.shape)
    return x
