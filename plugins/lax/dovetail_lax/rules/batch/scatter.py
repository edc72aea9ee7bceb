"""Batching the scatter family, in the same way as gather."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules
from dovetail_core import Primitive

from ...primitives.scatter import (
    ScatterDimensionNumbers,
    scatter_add_p,
    scatter_apply_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from .gather import after
from .kinds import first


def scatter_batch(
    primitive: Primitive,
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    dimension_numbers: ScatterDimensionNumbers,
    **params: Any,
) -> tuple[Any, int]:
    """The rule of any row of the family."""
    operand, indices, updates = args
    window, inserted, mapped, batching, paired = dimension_numbers
    operand = first(operand, dims[0], axis.size)
    updates = first(updates, dims[2], axis.size)
    if dims[1] is None:  # windows extend over the whole of the mapped axis
        dn = ScatterDimensionNumbers(
            (0, *after(window)), after(inserted), after(mapped), after(batching), paired
        )
    else:
        indices = first(indices, dims[1], axis.size)
        params["indices_are_sorted"] = False
        dn = ScatterDimensionNumbers(
            after(window),
            after(inserted),
            after(mapped),
            (0, *after(batching)),
            (0, *after(paired)),
        )
    return primitive.bind(operand, indices, updates, dimension_numbers=dn, **params), 0


def _fill(primitive: Primitive) -> None:
    def rule(
        axis: Any, args: Sequence[Any], dims: Sequence[int | None], **params: Any
    ) -> tuple[Any, int]:
        return scatter_batch(primitive, axis, args, dims, **params)

    batch_rules.set(primitive, rule)


for _primitive in (
    scatter_p,
    scatter_add_p,
    scatter_sub_p,
    scatter_mul_p,
    scatter_min_p,
    scatter_max_p,
    scatter_apply_p,
):
    _fill(_primitive)
