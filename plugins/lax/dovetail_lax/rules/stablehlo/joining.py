"""Lowering of what joins and divides arrays."""

from __future__ import annotations

from typing import Any

from dovetail_backends import stablehlo_rules

from ...primitives.joining import (
    Padding,
    concatenate_p,
    pad_p,
    split_p,
    stack_p,
    tile_p,
    unstack_p,
)
from ...primitives.shape import Shape
from .kinds import pad_attributes, slice_attributes


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
    # Negative pads are slices: XLA adds those of a pad to those of a reduce_window behind it, and
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
