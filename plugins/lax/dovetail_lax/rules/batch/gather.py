"""Batching of reading and writing windows of an array at many places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules
from dovetail_core import Primitive

from ...primitives.gather import (
    ScatterDimensionNumbers,
    gather_p,
    scatter_add_p,
    scatter_apply_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from ...primitives.indexing import GatherDimensionNumbers
from ...primitives.shape import Shape
from .elementwise import first


def after(axes: Shape) -> Shape:
    """Axes of an array that gets a new leading axis."""
    return tuple([a + 1 for a in axes])


@batch_rules.register(gather_p)
def gather_batch(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    **params: Any,
) -> tuple[Any, int | None]:
    """The rule of gather; with no mapped axis at all it is gather itself."""
    operand, indices = args
    dim, indices_dim = dims
    offset, collapsed, mapped, batching, paired = dimension_numbers
    sizes = slice_sizes
    if indices_dim is not None:  # each example's indices are sorted; all of them together are not
        params["indices_are_sorted"] = False
    if dim is None and indices_dim is None:
        dn = dimension_numbers
    elif indices_dim is None:  # windows extend over the whole of the mapped axis
        operand = first(operand, dim, axis.size)
        sizes = (axis.size, *slice_sizes)
        dn = GatherDimensionNumbers(
            (0, *after(offset)), after(collapsed), after(mapped), after(batching), paired
        )
    elif dim is None:  # more places, which examples may have in common
        params["unique_indices"] = False
        indices = first(indices, indices_dim, axis.size)
        dn = GatherDimensionNumbers(after(offset), collapsed, mapped, batching, after(paired))
    else:
        operand = first(operand, dim, axis.size)
        indices = first(indices, indices_dim, axis.size)
        sizes = (min(1, axis.size), *slice_sizes)
        dn = GatherDimensionNumbers(
            after(offset),
            after(collapsed),
            after(mapped),
            (0, *after(batching)),
            (0, *after(paired)),
        )
    out = gather_p.bind(operand, indices, dimension_numbers=dn, slice_sizes=sizes, **params)
    return out, None if dim is None and indices_dim is None else 0


def scatter_batch(
    primitive: Primitive,
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    dimension_numbers: ScatterDimensionNumbers,
    **params: Any,
) -> tuple[Any, int]:
    """The rule of any primitive of the family."""
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
