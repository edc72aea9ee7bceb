"""Transposes of slices: zeros with the cotangent put in its place, and back."""

from __future__ import annotations

from typing import Any

from dovetail_ad import is_linear, transpose_rules, transposed_type
from dovetail_core import typeof
from dovetail_core.algebra import zeros

from ...primitives.moves import padded
from ...primitives.shape import Shape
from ...primitives.slicing import dynamic_slice_p, dynamic_update_slice_p, slice_p


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
    back = dynamic_update_slice_p.bind(zeros(operand.aval), ct, *starts)
    return [back, *[None] * len(starts)]


@transpose_rules.register(dynamic_update_slice_p)
def _dynamic_update_slice_transpose(ct: Any, operand: Any, update: Any, *starts: Any) -> list[Any]:
    from_operand = from_update = None
    given: Any = typeof(update)
    if is_linear(operand):
        blank = zeros(transposed_type(given))
        from_operand = dynamic_update_slice_p.bind(ct, blank, *starts)
    if is_linear(update):
        from_update = dynamic_slice_p.bind(ct, *starts, slice_sizes=given.shape)
    return [from_operand, from_update, *[None] * len(starts)]
