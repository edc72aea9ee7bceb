"""The row gather: windows of an array read at many places."""

from __future__ import annotations

from dovetail_core import Primitive, ShapedArray

from ._elementwise import place
from .indexing import (
    GatherDimensionNumbers as GatherDimensionNumbers,
    GatherScatterMode as GatherScatterMode,
    check_dimension_numbers,
    gathered_shape,
)
from .shape import Shape

gather_p = Primitive("gather")


@gather_p.def_abstract_eval
def _gather(
    operand: ShapedArray,
    indices: ShapedArray,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
    fill_value: object,
) -> ShapedArray:
    dn = dimension_numbers
    check_dimension_numbers("gather", operand.shape, indices, dn)
    fits = len(slice_sizes) == len(operand.shape)
    if not fits or any(not 0 <= s <= n for s, n in zip(slice_sizes, operand.shape)):
        raise TypeError(
            f"lax.gather got slice_sizes {slice_sizes} for an operand of shape {operand.shape}"
            f"{place()}: give one size for each axis, at least 0 and at most the axis's."
        )
    if any(slice_sizes[i] > 1 for i in (*dn.collapsed_slice_dims, *dn.operand_batching_dims)):
        raise TypeError(
            f"lax.gather got slice_sizes {slice_sizes} with collapsed_slice_dims "
            f"{dn.collapsed_slice_dims} and operand_batching_dims {dn.operand_batching_dims}"
            f"{place()}: windows must have size 1 on those axes."
        )
    shape = gathered_shape(operand.shape, indices.shape, dn, slice_sizes)
    return ShapedArray(shape, operand.dtype, operand.weak_type)
