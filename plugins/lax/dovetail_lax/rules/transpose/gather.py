"""Transpose of gather: scatter_add onto zeros."""

from __future__ import annotations

from typing import Any

from dovetail_ad import transpose_rules
from dovetail_core.types.algebra import zeros

from ...primitives.gather import gather_p
from ...primitives.indexing import GatherDimensionNumbers
from ...primitives.scatter import as_scatter, scatter_add_p
from ...primitives.shape import Shape


@transpose_rules.register(gather_p)
def _gather_transpose(
    ct: Any,
    operand: Any,
    indices: Any,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    fill_value: Any,
    **params: Any,
) -> list[Any]:
    dn = as_scatter(dimension_numbers)
    back = scatter_add_p.bind(zeros(operand.aval), indices, ct, dimension_numbers=dn, **params)
    return [back, None]
