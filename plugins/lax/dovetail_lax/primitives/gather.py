"""Gather and scatter: windows of an array at many places, read, or combined with updates."""

from __future__ import annotations

from typing import Any, NamedTuple

from dovetail_core import ClosedJaxpr, Primitive, ShapedArray

from ._elementwise import place
from .indexing import (
    GatherDimensionNumbers as GatherDimensionNumbers,
    GatherScatterMode as GatherScatterMode,
    check_dimension_numbers,
    gathered_shape,
    window_axes,
)
from .shape import Shape
from .traits import describe

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


scatter_p = Primitive("scatter")
scatter_add_p = Primitive("scatter-add")
scatter_sub_p = Primitive("scatter-sub")
scatter_mul_p = Primitive("scatter-mul")
scatter_min_p = Primitive("scatter-min")
scatter_max_p = Primitive("scatter-max")
scatter_apply_p = Primitive("scatter_apply")
"""Replaces elements by a function of themselves, a program of one scalar (``update``); of the
operand ``updates`` only the shape matters."""


class ScatterDimensionNumbers(NamedTuple):
    """How axes of operand, indices and updates of a scatter belong together.

    Args:
        update_window_dims: axes of the updates that are axes of a window, in order.
        inserted_window_dims: axes of the operand on which windows have size 1 and that the
            updates lack.
        scatter_dims_to_operand_dims: the operand's axis that each component of an index vector is
            for.
        operand_batching_dims: axes of the operand on which the window's place is the position
            along the axis of ``scatter_indices`` that ``scatter_indices_batching_dims`` pairs.
        scatter_indices_batching_dims: those axes of ``scatter_indices``.
    """

    update_window_dims: Shape
    inserted_window_dims: Shape
    scatter_dims_to_operand_dims: Shape
    operand_batching_dims: Shape = ()
    scatter_indices_batching_dims: Shape = ()


def as_gather(dn: ScatterDimensionNumbers) -> GatherDimensionNumbers:
    """The gather that reads what the scatter writes."""
    return GatherDimensionNumbers(*dn)


def as_scatter(dn: GatherDimensionNumbers) -> ScatterDimensionNumbers:
    """The scatter that writes what the gather reads."""
    return ScatterDimensionNumbers(*dn)


def window_sizes(operand: Shape, updates: Shape, dn: ScatterDimensionNumbers) -> Shape:
    """The shape of a window in the operand: the ``slice_sizes`` of the gather that reads it."""
    sizes = [min(1, n) for n in operand]
    for axis, update_axis in zip(window_axes(as_gather(dn), len(operand)), dn.update_window_dims):
        sizes[axis] = updates[update_axis]
    return tuple(sizes)


def _type(
    name: str,
    operand: ShapedArray,
    indices: ShapedArray,
    updates: ShapedArray,
    dn: ScatterDimensionNumbers,
) -> ShapedArray:
    fields = ScatterDimensionNumbers._fields
    check_dimension_numbers(name, operand.shape, indices, as_gather(dn), fields)
    given = (
        f"lax.{name} got an operand of type {operand.str_short()}, indices of shape "
        f"{indices.shape} and updates of type {updates.str_short()}"
    )
    if operand.dtype != updates.dtype:
        raise TypeError(
            f"{given}{place()}: operand and updates must have one dtype. Convert the updates to "
            f"{operand.dtype.name}."
        )
    rank = len(indices.shape) - 1 + len(dn.update_window_dims)
    if len(updates.shape) != rank:
        raise TypeError(
            f"{given}{place()}: updates must have {rank} axes, those of the indices but the last "
            f"and the {len(dn.update_window_dims)} of update_window_dims."
        )
    sizes = window_sizes(operand.shape, updates.shape, dn)
    if any(s > n for s, n in zip(sizes, operand.shape)):
        raise TypeError(f"{given}{place()}: a window of shape {sizes} is larger than the operand.")
    shape = gathered_shape(operand.shape, indices.shape, as_gather(dn), sizes)
    if updates.shape != shape:
        raise TypeError(f"{given}{place()}: with {dn} the updates must have the shape {shape}.")
    return operand


def _define(primitive: Primitive, takes_bool: bool = True) -> None:
    name = primitive.variable.removesuffix("_p")

    def rule(
        operand: ShapedArray,
        indices: ShapedArray,
        updates: ShapedArray,
        *,
        dimension_numbers: ScatterDimensionNumbers,
        indices_are_sorted: bool,
        unique_indices: bool,
        mode: GatherScatterMode,
        **update: Any,
    ) -> ShapedArray:
        if operand.dtype == bool and not takes_bool:
            raise TypeError(
                f"lax.{name} does not take booleans{place()}. Use scatter_max for 'or', "
                "scatter_min for 'and', or convert to an integer type first."
            )
        return _type(name, operand, indices, updates, dimension_numbers)

    primitive.def_abstract_eval(rule)


for _primitive in (scatter_p, scatter_min_p, scatter_max_p):
    _define(_primitive)
for _primitive in (scatter_add_p, scatter_sub_p, scatter_mul_p):
    _define(_primitive, takes_bool=False)


@scatter_apply_p.def_abstract_eval
def _scatter_apply(
    operand: ShapedArray,
    indices: ShapedArray,
    updates: ShapedArray,
    *,
    update: ClosedJaxpr,
    dimension_numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
) -> ShapedArray:
    out: Any = update.out_avals[0]
    if out.shape != () or out.dtype != operand.dtype:
        raise TypeError(
            f"lax.scatter_apply: func maps a scalar of dtype {operand.dtype.name} to "
            f"{out.str_short()}{place()}. It must act elementwise and keep the dtype."
        )
    return _type("scatter_apply", operand, indices, updates, dimension_numbers)


describe(__name__)
