"""Derivatives of sorting: tangents are put into the order of their primals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail_ad import jvp_rules
from dovetail_core import Primitive

from ...primitives.gather import gather_p
from ...primitives.indexing import GatherDimensionNumbers, GatherScatterMode
from ...primitives.moves import along
from ...primitives.shape import broadcast_in_dim_p, reshape_p
from ...primitives.sorting import approx_top_k_p, sort_p, top_k_p
from ...primitives.values import iota_p

_INDEX = np.dtype(np.int32)


@jvp_rules.register(sort_p)
def _sort(
    primals: Sequence[Any], tangents: Sequence[Any], *, dimension: int, **params: Any
) -> tuple[list[Any], list[Any]]:
    positions = iota_p.bind(dtype=_INDEX, shape=primals[0].shape, dimension=dimension)
    *answers, order = sort_p.bind(*primals, positions, dimension=dimension, **params)
    return answers, [None if t is None else taken(t, order, dimension) for t in tangents]


def taken(x: Any, positions: Any, axis: int) -> Any:
    """``x`` at ``positions`` along ``axis``, all different, for each index on the other axes."""
    shape: tuple[int, ...] = positions.shape
    if 0 in x.shape:
        return along(x, axis, 0, shape[axis])
    others = tuple([i for i in range(len(shape)) if i != axis])
    numbers = GatherDimensionNumbers((), (axis,), (axis,), others, others)
    return gather_p.bind(
        x,
        reshape_p.bind(positions, new_sizes=(*shape, 1)),
        dimension_numbers=numbers,
        slice_sizes=(1,) * len(shape),
        indices_are_sorted=False,
        unique_indices=True,
        mode=GatherScatterMode.PROMISE_IN_BOUNDS,
        fill_value=None,
    )


def taken_rows(x: Any, rows: Any) -> Any:
    """The rows of each matrix in the order that ``rows`` gives."""
    shape: tuple[int, ...] = x.shape
    positions = broadcast_in_dim_p.bind(
        rows, shape=shape, broadcast_dimensions=tuple(range(len(shape) - 1))
    )
    return taken(x, positions, len(shape) - 2)


def _largest(primitive: Primitive, axis_name: str) -> None:
    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        values, positions = primitive.bind(primals[0], **params)
        return [values, positions], [taken(tangents[0], positions, params[axis_name]), None]

    jvp_rules.set(primitive, rule)


_largest(top_k_p, "axis")
_largest(approx_top_k_p, "reduction_dimension")
