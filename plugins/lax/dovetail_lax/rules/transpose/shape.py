"""Transposition of what rearranges and slices arrays."""

from __future__ import annotations

from typing import Any

from dovetail_ad import is_linear, transpose_rules, transposed_type
from dovetail_core import typeof, zeros_like_aval

from ...primitives.moves import padded, reshaped, transposed
from ...primitives.reductions import reduce_sum_p
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


def _inverse(permutation: Shape) -> list[int]:
    return sorted(range(len(permutation)), key=permutation.__getitem__)


@transpose_rules.register(reshape_p)
def _reshape_transpose(
    ct: Any, x: Any, *, new_sizes: Shape, dimensions: Shape | None = None
) -> list[Any]:
    shape: Shape = x.aval.shape
    if dimensions is None:
        return [reshaped(ct, shape)]
    return [transposed(reshaped(ct, [shape[i] for i in dimensions]), _inverse(dimensions))]


@transpose_rules.register(transpose_p)
def _transpose_transpose(ct: Any, x: Any, *, permutation: Shape) -> list[Any]:
    return [transposed(ct, _inverse(permutation))]


@transpose_rules.register(broadcast_in_dim_p)
def _broadcast_in_dim_transpose(
    ct: Any, x: Any, *, shape: Shape, broadcast_dimensions: Shape
) -> list[Any]:
    given: Shape = x.aval.shape
    kept = {d for n, d in zip(given, broadcast_dimensions) if n == shape[d]}
    summed = tuple([d for d in range(len(shape)) if d not in kept])
    total = reduce_sum_p.bind(ct, axes=summed) if summed else ct
    return [reshaped(total, given)]


@transpose_rules.register(squeeze_p)
def _squeeze_transpose(ct: Any, x: Any, *, dimensions: Shape) -> list[Any]:
    return [reshaped(ct, x.aval.shape)]


@transpose_rules.register(rev_p)
def _rev_transpose(ct: Any, x: Any, *, dimensions: Shape) -> list[Any]:
    return [rev_p.bind(ct, dimensions=dimensions)]


@transpose_rules.register(slice_p)
def _slice_transpose(
    ct: Any, x: Any, *, start_indices: Shape, limit_indices: Shape, strides: Shape | None
) -> list[Any]:
    steps = strides or (1,) * len(start_indices)
    config: list[tuple[int, int, int]] = []
    lengths = typeof(ct).shape  # type: ignore[attr-defined]
    for size, length, start, step in zip(x.aval.shape, lengths, start_indices, steps):
        end = start + (length - 1) * step + 1 if length else start
        config.append((start, size - end, step - 1))
    return [padded(ct, config)]


@transpose_rules.register(dynamic_slice_p)
def _dynamic_slice_transpose(ct: Any, operand: Any, *starts: Any, slice_sizes: Shape) -> list[Any]:
    back = dynamic_update_slice_p.bind(zeros_like_aval(operand.aval), ct, *starts)
    return [back, *[None] * len(starts)]


@transpose_rules.register(dynamic_update_slice_p)
def _dynamic_update_slice_transpose(ct: Any, operand: Any, update: Any, *starts: Any) -> list[Any]:
    from_operand = from_update = None
    given: Any = typeof(update)
    if is_linear(operand):
        blank = zeros_like_aval(transposed_type(given))
        from_operand = dynamic_update_slice_p.bind(ct, blank, *starts)
    if is_linear(update):
        from_update = dynamic_slice_p.bind(ct, *starts, slice_sizes=given.shape)
    return [from_operand, from_update, *[None] * len(starts)]
