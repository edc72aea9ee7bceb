"""Lowering of gather; StableHLO's moves windows inside, so that only filling takes more."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_backends.pjrt import i64_array
from dovetail_core import ShapedArray

from ...primitives.gather import gather_p
from ...primitives.indexing import GatherDimensionNumbers, GatherScatterMode
from ...primitives.shape import Shape
from .combiners import combiner

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


def compare(b: Any, x: Any, y: Any, direction: str) -> Any:
    """An integer comparison."""
    kind = "UNSIGNED" if x.aval.dtype.kind == "u" else "SIGNED"
    attrs = (
        f"comparison_direction = #stablehlo<comparison_direction {direction}>, "
        f"compare_type = #stablehlo<comparison_type {kind}>"
    )
    return b.op("stablehlo.compare", [x, y], ShapedArray(x.aval.shape, _BOOL), attrs)


def _inside(b: Any, indices: Any, last: np.ndarray[Any, Any]) -> Any:
    """Whether the window of each index vector is inside of the operand."""
    at_most = compare(b, indices, per_component(b, last, indices), "LE")
    shape = indices.aval.shape
    if indices.aval.dtype.kind == "i":
        zero = b.constant(0, indices.aval.strong())
        at_least = compare(b, indices, zero, "GE")
        at_most = b.op("stablehlo.and", [at_least, at_most], ShapedArray(shape, _BOOL))
    scalar, out = ShapedArray((), _BOOL), ShapedArray(shape[:-1], _BOOL)
    true = b.constant(True, scalar)
    attrs = f"dimensions = {i64_array([len(shape) - 1])}"
    return b.op("stablehlo.reduce", [at_most, true], [out], attrs, [combiner("and", _BOOL)])[0]


def _numbers(dn: GatherDimensionNumbers, rank: int) -> str:
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
        f"dimension_numbers = {_numbers(dimension_numbers, len(indices.aval.shape))}, "
        f"indices_are_sorted = {flag(indices_are_sorted)}, slice_sizes = {i64_array(slice_sizes)}"
    )
    found = b.op("stablehlo.gather", [operand, indices], out, attrs)
    axes = dimension_numbers.start_index_map
    if mode not in _FILLING or not axes:
        return found
    last = last_starts(operand.aval.shape, axes, slice_sizes, indices.aval.dtype)
    inside = _inside(b, indices, last)
    places = [i for i in range(len(out.shape)) if i not in dimension_numbers.offset_dims]
    inside = b.broadcast(inside, out.shape, places)
    fill = b.constant(0 if fill_value is None else fill_value, out.strong())
    return b.op("stablehlo.select", [inside, found, fill], out)
