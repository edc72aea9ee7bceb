"""Lowering of slices."""

from __future__ import annotations

from typing import Any

from dovetail_backends import stablehlo_rules
from dovetail_backends.pjrt import i64_array

from ...primitives.shape import Shape
from ...primitives.slicing import dynamic_slice_p, dynamic_update_slice_p, slice_p


@stablehlo_rules.register(slice_p)
def _slice(
    b: Any, x: Any, *, start_indices: Shape, limit_indices: Shape, strides: Shape | None
) -> Any:
    steps = i64_array(strides or (1,) * len(start_indices))
    start, limit = i64_array(start_indices), i64_array(limit_indices)
    attrs = f"start_indices = {start}, limit_indices = {limit}, strides = {steps}"
    return b.op("stablehlo.slice", [x], b.out, attrs)


@stablehlo_rules.register(dynamic_slice_p)
def _dynamic_slice(b: Any, x: Any, *starts: Any, slice_sizes: Shape) -> Any:
    attrs = f"slice_sizes = {i64_array(slice_sizes)}"
    return b.op("stablehlo.dynamic_slice", [x, *starts], b.out, attrs)


@stablehlo_rules.register(dynamic_update_slice_p)
def _dynamic_update_slice(b: Any, x: Any, update: Any, *starts: Any) -> Any:
    return b.op("stablehlo.dynamic_update_slice", [x, update, *starts], b.out)
