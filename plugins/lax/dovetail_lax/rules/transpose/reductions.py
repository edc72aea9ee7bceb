"""Transposition of sums, whole and cumulative."""

from __future__ import annotations

from typing import Any

from dovetail_ad import transpose_rules

from ...primitives.reductions import cumsum_p, reduce_sum_p
from ...primitives.shape import broadcast_in_dim_p


@transpose_rules.register(reduce_sum_p)
def _reduce_sum(ct: Any, x: Any, *, axes: tuple[int, ...]) -> list[Any]:
    shape: tuple[int, ...] = x.aval.shape
    kept = tuple([i for i in range(len(shape)) if i not in axes])
    return [broadcast_in_dim_p.bind(ct, shape=shape, broadcast_dimensions=kept) if axes else ct]


@transpose_rules.register(cumsum_p)
def _cumsum(ct: Any, x: Any, *, axis: int, reverse: bool) -> list[Any]:
    return [cumsum_p.bind(ct, axis=axis, reverse=not reverse)]
