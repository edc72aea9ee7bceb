"""Lowering of rearranging, slicing, joining and dividing arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_backends import stablehlo_rules
from dovetail_backends.pjrt import i64_array

from ...primitives.shape import (
    Padding,
    Shape,
    broadcast_in_dim_p,
    concatenate_p,
    dynamic_slice_p,
    dynamic_update_slice_p,
    pad_p,
    reshape_p,
    rev_p,
    slice_p,
    split_p,
    squeeze_p,
    stack_p,
    tile_p,
    transpose_p,
    unstack_p,
)
from .kinds import known_indices, pad_attributes, slice_attributes


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
    positions = _inside(b, starts, x, update.aval.shape)
    return b.op("stablehlo.dynamic_update_slice", [x, update, *positions], b.out)


def _inside(b: Any, starts: Sequence[Any], x: Any, sizes: Shape) -> Sequence[Any]:
    """Start indices in at least 32 bits (see ``known_indices``).

    On several devices they are clamped, so that the box lies in ``x``: XLA's partitioner moves
    boxes into the part that a device has, not into the full array.
    """
    starts = [known_indices(b, i) for i in starts]
    if b.module.partition is None:
        return starts
    result: list[Any] = []
    for i, n, size in zip(starts, x.aval.shape, sizes):
        ends = b.constant(0, i.aval), b.constant(n - size, i.aval)
        result.append(b.op("stablehlo.clamp", [ends[0], i, ends[1]], i.aval))
    return result


def _concatenated(b: Any, operands: Any, dimension: int, out: Any) -> Any:
    return b.op("stablehlo.concatenate", operands, out, f"dimension = {dimension} : i64")


@stablehlo_rules.register(concatenate_p)
def _concatenate(b: Any, *operands: Any, dimension: int) -> Any:
    return _concatenated(b, operands, dimension, b.out)


@stablehlo_rules.register(stack_p)
def _stack(b: Any, *operands: Any, axis: int) -> Any:
    out = b.out
    row = out.update(shape=(*out.shape[:axis], 1, *out.shape[axis + 1 :]))
    rows = [b.op("stablehlo.reshape", [x], row) for x in operands]
    return _concatenated(b, rows, axis, out)


def _parts(b: Any, x: Any, sizes: Shape, axis: int) -> list[Any]:
    shape: Shape = x.aval.shape
    parts: list[Any] = []
    at = 0
    for n in sizes:
        start = [at if i == axis else 0 for i in range(len(shape))]
        limit = (*shape[:axis], at + n, *shape[axis + 1 :])
        out = x.aval.update(shape=(*shape[:axis], n, *shape[axis + 1 :]))
        parts.append(b.op("stablehlo.slice", [x], out, slice_attributes(start, limit)))
        at += n
    return parts


@stablehlo_rules.register(split_p)
def _split(b: Any, x: Any, *, sizes: Shape, axis: int) -> list[Any]:
    return _parts(b, x, sizes, axis)


@stablehlo_rules.register(unstack_p)
def _unstack(b: Any, x: Any, *, axis: int) -> list[Any]:
    outs = b.outs
    parts = _parts(b, x, (1,) * x.aval.shape[axis], axis)
    return [b.op("stablehlo.reshape", [p], out) for p, out in zip(parts, outs)]


@stablehlo_rules.register(tile_p)
def _tile(b: Any, x: Any, *, reps: Shape) -> Any:
    # An axis of size n becomes two, of sizes (r, n), and then one of size r * n.
    out = b.out
    pairs = [d for r, n in zip(reps, x.aval.shape) for d in (r, n)]
    return b.op("stablehlo.reshape", [b.broadcast(x, pairs, range(1, len(pairs), 2))], out)


@stablehlo_rules.register(pad_p)
def _pad(b: Any, x: Any, value: Any, *, padding_config: Padding) -> Any:
    # Negative pads are slices: XLA adds those of a pad to those of a reduce_window after it, and
    # takes again what was cut off.
    out = b.out
    added = [(max(low, 0), max(high, 0), holes) for low, high, holes in padding_config]
    full = x.aval.shape
    if any(map(any, added)):
        full = tuple([
            low + max(n + (n - 1) * holes, 0) + high for n, (low, high, holes) in zip(full, added)
        ])  # fmt: skip
        low, high, interior = zip(*added)
        attrs = pad_attributes(low, high, interior)
        x = b.op("stablehlo.pad", [x, value], out.update(shape=full), attrs)
    if full == out.shape:
        return x
    start = [max(-low, 0) for low, _, _ in padding_config]
    limit = [i + n for i, n in zip(start, out.shape)]
    return b.op("stablehlo.slice", [x], out, slice_attributes(start, limit))
