"""Rows that read or replace one box of an array: slice, dynamic_slice, dynamic_update_slice."""

from __future__ import annotations

from dovetail_core import Primitive, ShapedArray

from ._elementwise import place
from .shape import Shape

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
        "limit_indices "
        f"{limit_indices} and strides {strides}"
    )
    if not len(start_indices) == len(limit_indices) == len(steps) == len(x.shape):
        raise TypeError(f"{given}{place()}: give one number for each of the {len(x.shape)} axes.")
    if any(s < 1 for s in steps):
        raise TypeError(f"{given}{place()}: strides must be at least 1. Use rev to reverse.")
    if any(not 0 <= a <= b <= n for a, b, n in zip(start_indices, limit_indices, x.shape)):
        raise TypeError(f"{given}{place()}: on each axis 0 <= start <= limit <= size must hold.")
    sizes = [-((a - b) // s) for a, b, s in zip(start_indices, limit_indices, steps)]
    return ShapedArray(sizes, x.dtype, x.weak_type)


def _starts_checked(name: str, x: ShapedArray, starts: tuple[ShapedArray, ...]) -> None:
    if len(starts) != len(x.shape):
        raise ValueError(
            f"lax.{name} got {len(starts)} start indices for an operand of shape "
            f"{x.shape}{place()}: "
            f"give one for each of its {len(x.shape)} axes."
        )
    if any(i.shape != () for i in starts):
        raise TypeError(
            f"lax.{name} got start indices of types {_types(starts)}{place()}: each must be a "
            "scalar. "
            "Use gather, or vmap, to read at several places."
        )
    if any(i.dtype.kind not in "iu" or i.dtype != starts[0].dtype for i in starts):
        raise TypeError(
            f"lax.{name} got start indices of types {_types(starts)}{place()}: they must be "
            "integers "
            "of one dtype. Convert them (convert_element_type)."
        )


def _types(avals: tuple[ShapedArray, ...]) -> str:
    return ", ".join(a.str_short() for a in avals)


@dynamic_slice_p.def_abstract_eval
def _dynamic_slice(x: ShapedArray, *starts: ShapedArray, slice_sizes: Shape) -> ShapedArray:
    _starts_checked("dynamic_slice", x, starts)
    fits = len(slice_sizes) == len(x.shape)
    if not fits or any(not 0 <= s <= n for s, n in zip(slice_sizes, x.shape)):
        raise TypeError(
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
            "dtype "
            f"{update.dtype.name}{place()}: they must be equal. Convert the update to "
            f"{x.dtype.name}."
        )
    fits = len(update.shape) == len(x.shape)
    if not fits or any(u > n for u, n in zip(update.shape, x.shape)):
        raise TypeError(
            f"lax.dynamic_update_slice got an update of shape {update.shape} for an operand of "
            "shape "
            f"{x.shape}{place()}: it must have as many axes, none longer than the operand's."
        )
    return x.strong()
