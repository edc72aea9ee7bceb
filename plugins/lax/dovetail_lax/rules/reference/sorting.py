"""Sorting with NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail_backends import Effort, reference_rules

from ...dtypes import kind_of
from ...primitives.sorting import approx_top_k_p, sort_p, top_k_p
from .kinds import Array
from .reductions import computing


def _count(in_avals: Sequence[Any], out_avals: Sequence[Any]) -> int:
    return sum(a.size for a in in_avals) // 50


sorting = Effort(_count)


@reference_rules.register(sort_p)
@sorting
def _sort(*operands: Array, dimension: int, is_stable: bool, num_keys: int) -> list[Array]:
    keys = [k for x in operands[:num_keys] for k in _keys(x)]
    order = np.lexsort(keys[::-1], axis=dimension)  # its last key is the first to compare by
    return [np.take_along_axis(x, order, dimension) for x in operands]


def _keys(x: Array) -> list[Array]:
    """Arrays without NaN in whose lexicographic order ``x`` is sorted."""
    wide = computing(x)
    if wide.dtype.kind == "c":
        parts = wide.real, wide.imag
        return [*map(np.isnan, parts), *(k for p in parts for k in _keys(p))]
    if wide.dtype.kind == "f":
        return [np.isnan(wide), np.where(np.isnan(wide), 0, wide)]
    return [wide]


@reference_rules.register(top_k_p)
@sorting
def _top_k(x: Array, *, k: int, axis: int) -> list[Array]:
    order = np.argsort(~_ranks(x), axis=axis, kind="stable")  # ``~`` reverses without overflow
    positions = np.take(order, np.arange(k), axis=axis)
    return [np.take_along_axis(x, positions, axis), positions.astype(np.int32)]


def _ranks(x: Array) -> Array:
    """Integers in the order of ``x``; of floats, which distinguish all bits."""
    if kind_of(x.dtype) != "floating":
        return computing(x)
    bits = computing(x).astype(np.float64).view(np.int64)
    return np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)


@reference_rules.register(approx_top_k_p)
@sorting
def _approx_top_k(
    x: Array,
    *,
    k: int,
    reduction_dimension: int,
    recall_target: float,
    is_max_k: bool,
    reduction_input_size_override: int,
    aggregate_to_topk: bool,
) -> list[Array]:
    axis = reduction_dimension
    count = k if aggregate_to_topk else x.shape[axis]
    if is_max_k:
        return _top_k(x, k=count, axis=axis)
    order = np.lexsort(_keys(x)[::-1], axis=axis)
    positions = np.take(order, np.arange(count), axis=axis)
    return [np.take_along_axis(x, positions, axis), positions.astype(np.int32)]
