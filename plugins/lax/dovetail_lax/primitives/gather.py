"""Gather and scatter: windows of an array that are read, or combined with updates."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from dovetail_core import ClosedJaxpr, Primitive, ShapedArray, here, zeros_like_aval

from .arithmetic import add_p
from .discrete import eq_p, ne_p
from .indexing import (
    GatherDimensionNumbers as GatherDimensionNumbers,
    GatherScatterMode,
    check_dimension_numbers,
    gathered_shape,
    window_axes,
)
from .moves import reshaped
from .shape import Shape
from .traits import describe
from .values import iota_p

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
            f"{here()}: give one size for each axis, at least 0 and at most the axis's."
        )
    if any(slice_sizes[i] > 1 for i in (*dn.collapsed_slice_dims, *dn.operand_batching_dims)):
        raise TypeError(
            f"lax.gather got slice_sizes {slice_sizes} with collapsed_slice_dims "
            f"{dn.collapsed_slice_dims} and operand_batching_dims {dn.operand_batching_dims}"
            f"{here()}: windows must have size 1 on those axes."
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
    """The relation of the axes of operand, indices and updates of a scatter.

    Args:
        update_window_dims: axes of the updates that are axes of a window, in order.
        inserted_window_dims: axes of the operand on which windows have size 1 and that the
            updates lack.
        scatter_dims_to_operand_dims: the operand's axis that each component of an index vector is
            for.
        operand_batching_dims: axes of the operand on which the window's start is the position
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
            f"{given}{here()}: operand and updates must have one dtype. Convert the updates to "
            f"{operand.dtype.name}."
        )
    rank = len(indices.shape) - 1 + len(dn.update_window_dims)
    if len(updates.shape) != rank:
        raise TypeError(
            f"{given}{here()}: updates must have {rank} axes, those of the indices but the last "
            f"and the {len(dn.update_window_dims)} of update_window_dims."
        )
    sizes = window_sizes(operand.shape, updates.shape, dn)
    if any(s > n for s, n in zip(sizes, operand.shape)):
        raise TypeError(f"{given}{here()}: a window of shape {sizes} is larger than the operand.")
    shape = gathered_shape(operand.shape, indices.shape, as_gather(dn), sizes)
    if updates.shape != shape:
        raise TypeError(f"{given}{here()}: with {dn} the updates must have the shape {shape}.")
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
                f"lax.{name} does not take booleans{here()}. Use scatter_max for 'or', "
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
            f"{out.str_short()}{here()}. It must act elementwise and keep the dtype."
        )
    return _type("scatter_apply", operand, indices, updates, dimension_numbers)


_INT32 = np.dtype(np.int32)


def reading(operand: Shape, updates: Shape, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the gather that reads what a scatter with ``params`` writes.

    It reads zeros for windows that the scatter ignores.
    """
    mode = params["mode"]
    if mode is GatherScatterMode.ONE_HOT:
        mode = GatherScatterMode.FILL_OR_DROP
    return {
        "dimension_numbers": as_gather(params["dimension_numbers"]),
        "slice_sizes": window_sizes(operand, updates, params["dimension_numbers"]),
        "indices_are_sorted": params["indices_are_sorted"],
        "unique_indices": params["unique_indices"],
        "mode": mode,
        "fill_value": 0 if mode is GatherScatterMode.FILL_OR_DROP else None,
    }


def kept_updates(
    operand: Shape, indices: Any, updates: Shape, params: dict[str, Any]
) -> tuple[Any, Any]:
    """Masks of the elements of the operand that a scatter replaces, and of the updates it keeps.

    Of overlapping updates the backend keeps any one. So the updates are numbered, the numbers are
    scattered and gathered again: an update is kept if its own number comes back.
    """
    count = iota_p.bind(dtype=_INT32, shape=(prod(updates),), dimension=0)
    numbers = reshaped(add_p.bind(count, np.int32(1)), updates)
    written = scatter_p.bind(
        zeros_like_aval(ShapedArray(operand, _INT32)), indices, numbers, **params
    )
    result = gather_p.bind(written, indices, **reading(operand, updates, params))
    return ne_p.bind(written, np.int32(0)), eq_p.bind(result, numbers)


describe(__name__)
