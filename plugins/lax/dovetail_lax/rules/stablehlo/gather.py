"""Lowering of gather and scatter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_backends.pjrt import i64_array
from dovetail_core import ClosedJaxpr, Primitive, ShapedArray

from ...primitives.gather import (
    ScatterDimensionNumbers,
    gather_p,
    scatter_add_p,
    scatter_apply_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
    window_sizes,
)
from ...primitives.indexing import GatherDimensionNumbers, GatherScatterMode
from ...primitives.shape import Shape
from .kinds import INT32, compare, known_indices
from .reductions import combiner

_BOOL = np.dtype(np.bool_)
_FILLING = (GatherScatterMode.FILL_OR_DROP, GatherScatterMode.ONE_HOT)


def flag(value: bool) -> str:
    """A boolean attribute."""
    return "true" if value else "false"


def last_starts(
    operand: Shape, axes: Shape, slice_sizes: Shape, dtype: Any
) -> np.ndarray[Any, Any]:
    """For each component of an index vector the greatest start with the window inside."""
    top = np.iinfo(dtype).max
    return np.array([min(operand[d] - slice_sizes[d], top) for d in axes], dtype)


def per_component(b: Any, values: np.ndarray[Any, Any], indices: Any) -> Any:
    """One value for each component of an index vector, in the shape of ``indices``."""
    if len(set(values.tolist())) == 1:
        return b.constant(values[0], indices.aval.strong())
    vector = b.constant(values, ShapedArray(values.shape, values.dtype))
    return b.broadcast(vector, indices.aval.shape, (len(indices.aval.shape) - 1,))


def _inside(b: Any, indices: Any, last: np.ndarray[Any, Any]) -> Any:
    """True where the window of an index vector is inside of the operand."""
    at_most = compare(b, "LE", indices, per_component(b, last, indices))
    shape = indices.aval.shape
    if indices.aval.dtype.kind == "i":
        zero = b.constant(0, indices.aval.strong())
        at_least = compare(b, "GE", indices, zero)
        at_most = b.op("stablehlo.and", [at_least, at_most], ShapedArray(shape, _BOOL))
    scalar, out = ShapedArray((), _BOOL), ShapedArray(shape[:-1], _BOOL)
    true = b.constant(True, scalar)
    attrs = {"dimensions": i64_array([len(shape) - 1])}
    return b.op("stablehlo.reduce", [at_most, true], [out], attrs, [combiner("and", _BOOL)])[0]


def _gather_numbers(dn: GatherDimensionNumbers, rank: int) -> str:
    lists = ", ".join(
        f"{name} = [{', '.join(map(str, axes))}]" for name, axes in zip(dn._fields, dn) if axes
    )
    return f"#stablehlo.gather<{lists}{', ' if lists else ''}index_vector_dim = {rank - 1}>"


@stablehlo_rules.register(gather_p)
def _gather(
    b: Any,
    operand: Any,
    indices: Any,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
    fill_value: Any,
) -> Any:
    out = b.out
    attrs = (
        f"dimension_numbers = {_gather_numbers(dimension_numbers, len(indices.aval.shape))}, "
        f"indices_are_sorted = {flag(indices_are_sorted)}, slice_sizes = {i64_array(slice_sizes)}"
    )
    indices = known_indices(b, indices)
    result = b.op("stablehlo.gather", [operand, indices], out, attrs)
    axes = dimension_numbers.start_index_map
    if mode not in _FILLING or not axes:
        return result
    last = last_starts(operand.aval.shape, axes, slice_sizes, indices.aval.dtype)
    inside = _inside(b, indices, last)
    positions = [i for i in range(len(out.shape)) if i not in dimension_numbers.offset_dims]
    inside = b.broadcast(inside, out.shape, positions)
    fill = b.constant(0 if fill_value is None else fill_value, out.strong())
    return b.op("stablehlo.select", [inside, result, fill], out)


_NAMES = (
    "update_window_dims",
    "inserted_window_dims",
    "scatter_dims_to_operand_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
)
Body = Callable[[Any, ShapedArray], str]
"""``body(b, scalar)`` is the region that makes one element of the old one and its update."""


def _scatter_numbers(dn: ScatterDimensionNumbers, rank: int) -> str:
    lists = "".join(
        f"{name} = [{', '.join(map(str, axes))}], " for name, axes in zip(_NAMES, dn) if axes
    )
    return f"#stablehlo.scatter<{lists}index_vector_dim = {rank - 1}>"


def _clipped(b: Any, indices: Any, last: np.ndarray[Any, Any]) -> Any:
    low = b.constant(0, ShapedArray((), indices.aval.dtype))
    low = b.broadcast(low, indices.aval.shape, ())
    high = per_component(b, last, indices)
    return b.op("stablehlo.clamp", [low, indices, high], indices.aval)


def _emit(
    b: Any,
    body: Body,
    operand: Any,
    indices: Any,
    updates: Any,
    *,
    dimension_numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
) -> Any:
    if 0 in operand.aval.shape or 0 in updates.aval.shape:
        return operand
    axes = dimension_numbers.scatter_dims_to_operand_dims
    indices = known_indices(b, indices)
    if mode.clips and axes:
        sizes = window_sizes(operand.aval.shape, updates.aval.shape, dimension_numbers)
        last = last_starts(operand.aval.shape, axes, sizes, indices.aval.dtype)
        indices = _clipped(b, indices, last)
    wide = operand
    if not axes:
        wide, indices, dimension_numbers = _with_an_axis(b, operand, indices, dimension_numbers)
    region = body(b, ShapedArray((), operand.aval.dtype))
    numbers = _scatter_numbers(dimension_numbers, len(indices.aval.shape))
    attrs = (
        f"indices_are_sorted = {flag(indices_are_sorted)}, scatter_dimension_numbers = {numbers}, "
        f"unique_indices = {flag(unique_indices)}"
    )
    (result,) = b.op("stablehlo.scatter", [wide, indices, updates], [wide.aval], attrs, [region])
    return result if wide is operand else b.op("stablehlo.reshape", [result], b.out)


def _with_an_axis(
    b: Any, operand: Any, indices: Any, dn: ScatterDimensionNumbers
) -> tuple[Any, Any, ScatterDimensionNumbers]:
    """A scatter whose index vectors are empty as one with an index, 0 of a new axis of length 1.

    XLA makes other scatters of empty index vectors: it applies two of many updates.
    """
    shape = (1, *operand.aval.shape)
    wide = b.op("stablehlo.reshape", [operand], operand.aval.update(shape=shape))
    zeros = b.constant(0, ShapedArray((*indices.aval.shape[:-1], 1), INT32))
    inserted, batching = (
        tuple([d + 1 for d in axes]) for axes in (dn.inserted_window_dims, dn.operand_batching_dims)
    )
    numbers = dn._replace(
        inserted_window_dims=(0, *inserted),
        scatter_dims_to_operand_dims=(0,),
        operand_batching_dims=batching,
    )
    return wide, zeros, numbers


def _register(primitive: Primitive, body: Body) -> None:
    def rule(b: Any, operand: Any, indices: Any, updates: Any, **params: Any) -> Any:
        return _emit(b, body, operand, indices, updates, **params)

    stablehlo_rules.set(primitive, rule)


def _difference(b: Any, scalar: ShapedArray) -> str:
    return b.region([scalar] * 2, lambda b, x, y: [b.op("stablehlo.subtract", [x, y], scalar)])


_register(scatter_p, lambda b, scalar: b.region([scalar] * 2, lambda b, x, y: [y]))
_register(scatter_sub_p, _difference)
_register(scatter_add_p, lambda b, scalar: combiner("sum", scalar.dtype))
_register(scatter_mul_p, lambda b, scalar: combiner("prod", scalar.dtype))
_register(scatter_min_p, lambda b, scalar: combiner("min", scalar.dtype))
_register(scatter_max_p, lambda b, scalar: combiner("max", scalar.dtype))


@stablehlo_rules.register(scatter_apply_p)
def _scatter_apply(
    b: Any, operand: Any, indices: Any, updates: Any, *, update: ClosedJaxpr, **params: Any
) -> Any:
    def body(b: Any, scalar: ShapedArray) -> str:
        return b.region([scalar] * 2, lambda b, x, y: b.inline(update, [x]))

    return _emit(b, body, operand, indices, updates, **params)
