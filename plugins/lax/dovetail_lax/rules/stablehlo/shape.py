"""Lowering of what rearranges one array."""

from __future__ import annotations

from typing import Any

from dovetail_backends import stablehlo_rules
from dovetail_backends.pjrt import i64_array

from ...primitives.shape import (
    Shape,
    broadcast_in_dim_p,
    reshape_p,
    rev_p,
    squeeze_p,
    transpose_p,
)


@stablehlo_rules.register(reshape_p)
def _reshape(b: Any, x: Any, *, new_sizes: Shape, dimensions: Shape | None = None) -> Any:
    out = b.out
    if dimensions is not None:
        middle = x.aval.update(shape=tuple([x.aval.shape[i] for i in dimensions]))
        attrs = f"permutation = {i64_array(dimensions)}"
        x = b.op("stablehlo.transpose", [x], middle, attrs)
    return b.op("stablehlo.reshape", [x], out)


@stablehlo_rules.register(transpose_p)
def _transpose(b: Any, x: Any, *, permutation: Shape) -> Any:
    return b.op("stablehlo.transpose", [x], b.out, f"permutation = {i64_array(permutation)}")


@stablehlo_rules.register(broadcast_in_dim_p)
def _broadcast_in_dim(b: Any, x: Any, *, shape: Shape, broadcast_dimensions: Shape) -> Any:
    attrs = f"broadcast_dimensions = {i64_array(broadcast_dimensions)}"
    return b.op("stablehlo.broadcast_in_dim", [x], b.out, attrs)


@stablehlo_rules.register(squeeze_p)
def _squeeze(b: Any, x: Any, *, dimensions: Shape) -> Any:
    return b.op("stablehlo.reshape", [x], b.out)


@stablehlo_rules.register(rev_p)
def _rev(b: Any, x: Any, *, dimensions: Shape) -> Any:
    return b.op("stablehlo.reverse", [x], b.out, f"dimensions = {i64_array(dimensions)}")
