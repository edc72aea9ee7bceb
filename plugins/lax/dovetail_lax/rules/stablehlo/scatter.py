"""Lowering of the scatter family; StableHLO's ignores windows outside, so clipping takes more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_core import ClosedJaxpr, Primitive, ShapedArray

from ...primitives.indexing import GatherScatterMode
from ...primitives.scatter import (
    ScatterDimensionNumbers,
    scatter_add_p,
    scatter_apply_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
    window_sizes,
)
from .combiners import combiner
from .gather import flag, last_starts, per_component

_NAMES = (
    "update_window_dims",
    "inserted_window_dims",
    "scatter_dims_to_operand_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
)
Body = Callable[[Any, ShapedArray], str]
"""``body(b, scalar)`` is the region that makes one element of the old one and its update."""


def _numbers(dn: ScatterDimensionNumbers, rank: int) -> str:
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
    out = b.out
    if 0 in operand.aval.shape or 0 in updates.aval.shape:
        return operand
    axes = dimension_numbers.scatter_dims_to_operand_dims
    dtype = indices.aval.dtype
    if mode is GatherScatterMode.CLIP and axes:
        sizes = window_sizes(operand.aval.shape, updates.aval.shape, dimension_numbers)
        indices = _clipped(b, indices, last_starts(operand.aval.shape, axes, sizes, dtype))
    region = body(b, ShapedArray((), operand.aval.dtype))
    attrs = (
        f"indices_are_sorted = {flag(indices_are_sorted)}, "
        f"scatter_dimension_numbers = {_numbers(dimension_numbers, len(indices.aval.shape))}, "
        f"unique_indices = {flag(unique_indices)}"
    )
    return b.op("stablehlo.scatter", [operand, indices, updates], [out], attrs, [region])[0]


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
