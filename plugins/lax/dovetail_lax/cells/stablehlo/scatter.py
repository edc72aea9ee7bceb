"""Lowering of the scatter family; StableHLO ignores windows outside, so that clipping takes more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_core import ClosedJaxpr, Primitive, ShapedArray

from ...primitives.gather import GatherScatterMode
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
from .gather import flag, last_starts, per_component

_NAMES = (
    "update_window_dims",
    "inserted_window_dims",
    "scatter_dims_to_operand_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
)
Combine = Callable[[Any, Any, Any], Any]
"""``combine(b, old, update)`` emits what becomes of one element."""


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
    combine: Combine,
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
    scalar = ShapedArray((), operand.aval.dtype)
    body = b.region([scalar, scalar], lambda b, x, y: [combine(b, x, y)])
    attrs = (
        f"indices_are_sorted = {flag(indices_are_sorted)}, "
        f"scatter_dimension_numbers = {_numbers(dimension_numbers, len(indices.aval.shape))}, "
        f"unique_indices = {flag(unique_indices)}"
    )
    return b.op("stablehlo.scatter", [operand, indices, updates], [out], attrs, [body])[0]


def _register(primitive: Primitive, combine: Combine) -> None:
    def rule(b: Any, operand: Any, indices: Any, updates: Any, **params: Any) -> Any:
        return _emit(b, combine, operand, indices, updates, **params)

    stablehlo_rules.set(primitive, rule)


def _by(op: str) -> Combine:
    return lambda b, x, y: b.op(op, [x, y], x.aval)


_register(scatter_p, lambda b, x, y: y)
_register(scatter_add_p, _by("stablehlo.add"))
_register(scatter_sub_p, _by("stablehlo.subtract"))
_register(scatter_mul_p, _by("stablehlo.multiply"))
_register(scatter_min_p, _by("stablehlo.minimum"))
_register(scatter_max_p, _by("stablehlo.maximum"))


@stablehlo_rules.register(scatter_apply_p)
def _scatter_apply(
    b: Any, operand: Any, indices: Any, updates: Any, *, update: ClosedJaxpr, **params: Any
) -> Any:
    return _emit(b, lambda b, x, y: b.inline(update, [x])[0], operand, indices, updates, **params)
