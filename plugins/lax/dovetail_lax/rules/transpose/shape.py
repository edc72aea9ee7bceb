"""Transposes of what rearranges one array."""

from __future__ import annotations

from typing import Any

from dovetail_ad import transpose_rules

from ...primitives.moves import reshaped, transposed
from ...primitives.reductions import reduce_sum_p
from ...primitives.shape import (
    Shape,
    broadcast_in_dim_p,
    reshape_p,
    rev_p,
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
