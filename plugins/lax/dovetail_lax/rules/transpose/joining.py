"""Transposes of what joins arrays by what divides them, and the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail_ad import is_linear, transpose_rules
from dovetail_core import ShapedArray, typeof, zeros_like_aval

from ...primitives.joining import Padding, concatenate_p, pad_p, split_p, stack_p, unstack_p
from ...primitives.moves import along, full, joined, padded
from ...primitives.reductions import reduce_sum_p
from ...primitives.shape import Shape, slice_p
from ...primitives.values import select_n_p


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
