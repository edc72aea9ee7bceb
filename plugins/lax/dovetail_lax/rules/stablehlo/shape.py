"""Lowering of what rearranges and slices arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_backends import stablehlo_rules
from dovetail_backends.pjrt import i64_array

from ...primitives.shape import (
    Shape,
    broadcast_in_dim_p,
    dynamic_slice_p,
    dynamic_update_slice_p,
    reshape_p,
    rev_p,
    slice_p,
    squeeze_p,
    transpose_p,
)
from .kinds import known_indices, slice_attributes


@stablehlo_rules.register(reshape_p)
def _reshape(b: Any, x: Any, *, new_sizes: Shape, dimensions: Shape | None = None) -> Any:
    out = b.out
    if dimensions is not None:
        middle = x.aval.update(shape=tuple([x.aval.shape[i] for i in dimensions]))
        attrs = f"permutation = {i64_array(dimensions)}"
        x = x.moved(b.op("stablehlo.transpose", [x], middle, attrs))
    return x.moved(b.op("stablehlo.reshape", [x], out))


@stablehlo_rules.register(transpose_p)
def _transpose(b: Any, x: Any, *, permutation: Shape) -> Any:
    attrs = f"permutation = {i64_array(permutation)}"
    return x.moved(b.op("stablehlo.transpose", [x], b.out, attrs))


@stablehlo_rules.register(broadcast_in_dim_p)
def _broadcast_in_dim(b: Any, x: Any, *, shape: Shape, broadcast_dimensions: Shape) -> Any:
    attrs = f"broadcast_dimensions = {i64_array(broadcast_dimensions)}"
    return x.moved(b.op("stablehlo.broadcast_in_dim", [x], b.out, attrs))


@stablehlo_rules.register(squeeze_p)
def _squeeze(b: Any, x: Any, *, dimensions: Shape) -> Any:
    return x.moved(b.op("stablehlo.reshape", [x], b.out))


@stablehlo_rules.register(rev_p)
def _rev(b: Any, x: Any, *, dimensions: Shape) -> Any:
    return b.op("stablehlo.reverse", [x], b.out, f"dimensions = {i64_array(dimensions)}")


@stablehlo_rules.register(slice_p)
def _slice(
    b: Any, x: Any, *, start_indices: Shape, limit_indices: Shape, strides: Shape | None
) -> Any:
    attrs = slice_attributes(start_indices, limit_indices, strides)
    return b.op("stablehlo.slice", [x], b.out, attrs)


@stablehlo_rules.register(dynamic_slice_p)
def _dynamic_slice(b: Any, x: Any, *starts: Any, slice_sizes: Shape) -> Any:
    attrs = f"slice_sizes = {i64_array(slice_sizes)}"
    return b.op("stablehlo.dynamic_slice", [x, *_inside(b, starts, x, slice_sizes)], b.out, attrs)


@stablehlo_rules.register(dynamic_update_slice_p)
def _dynamic_update_slice(b: Any, x: Any, update: Any, *starts: Any) -> Any:
    places = _inside(b, starts, x, update.aval.shape)
    return b.op("stablehlo.dynamic_update_slice", [x, update, *places], b.out)


def _inside(b: Any, starts: Sequence[Any], x: Any, sizes: Shape) -> Sequence[Any]:
    """Where to start, in at least 32 bits (see ``known_indices``); on several devices so that all
    lies in ``x``, as XLA's partitioner moves boxes into parts, not into the whole.
    """
    starts = [known_indices(b, i) for i in starts]
    if b.module.partition is None:
        return starts
    result: list[Any] = []
    for i, n, size in zip(starts, x.aval.shape, sizes):
        ends = b.constant(0, i.aval), b.constant(n - size, i.aval)
        result.append(b.op("stablehlo.clamp", [ends[0], i, ends[1]], i.aval))
    return result
