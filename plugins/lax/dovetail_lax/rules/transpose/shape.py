"""Transposition of rearranging, slicing, joining and dividing arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail_ad import is_linear, transpose_rules, transposed_type
from dovetail_core import ShapedArray, typeof, zeros_like_aval

from ...primitives.moves import along, full, joined, padded, reshaped, transposed
from ...primitives.reductions import reduce_sum_p
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
    transpose_p,
    unstack_p,
)
from ...primitives.values import select_n_p


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


@transpose_rules.register(concatenate_p)
def _concatenate_transpose(ct: Any, *operands: Any, dimension: int) -> list[Any]:
    result: list[Any] = []
    at = 0
    for x in operands:
        end = at + typeof(x).shape[dimension]  # type: ignore[attr-defined]
        result.append(along(ct, dimension, at, end) if is_linear(x) else None)
        at = end
    return result


@transpose_rules.register(stack_p)
def _stack_transpose(ct: Any, *operands: Any, axis: int) -> list[Any]:
    rows = unstack_p.bind(ct, axis=axis)
    return [row if is_linear(x) else None for row, x in zip(rows, operands)]


def _dense(cts: Sequence[Any], avals: Sequence[ShapedArray]) -> list[Any]:
    return [zeros_like_aval(a) if ct is None else ct for ct, a in zip(cts, avals)]


@transpose_rules.register(split_p)
def _split_transpose(cts: Sequence[Any], x: Any, *, sizes: Shape, axis: int) -> list[Any]:
    parts = split_p.infer((x.aval,), {"sizes": sizes, "axis": axis}).avals
    return [joined(_dense(cts, parts), axis)]  # type: ignore[arg-type]


@transpose_rules.register(unstack_p)
def _unstack_transpose(cts: Sequence[Any], x: Any, *, axis: int) -> list[Any]:
    rows = unstack_p.infer((x.aval,), {"axis": axis}).avals
    return [stack_p.bind(*_dense(cts, rows), axis=axis)]  # type: ignore[arg-type]


@transpose_rules.register(pad_p)
def _pad_transpose(ct: Any, operand: Any, value: Any, *, padding_config: Padding) -> list[Any]:
    given: Any = typeof(operand)
    zero = given.dtype.type(0)
    from_operand = from_value = None
    if is_linear(operand):
        # Undo the outer padding (negative padding crops, and what was cropped gets zero) ...
        outer = tuple([(-lo, -hi, 0) for lo, hi, _ in padding_config])
        inner = padded(ct, outer)
        # ... then pick the operand's elements from between the inner padding.
        from_operand = slice_p.bind(
            inner,
            start_indices=(0,) * len(given.shape),
            limit_indices=typeof(inner).shape,  # type: ignore[attr-defined]
            strides=tuple([i + 1 for _, _, i in padding_config]),
        )
    if is_linear(value):
        where = full(given.shape, True, np.dtype(np.bool_))
        covered = pad_p.bind(where, np.bool_(False), padding_config=padding_config)
        rest = select_n_p.bind(covered, ct, zero)
        from_value = reduce_sum_p.bind(rest, axes=tuple(range(len(given.shape))))
    return [from_operand, from_value]
