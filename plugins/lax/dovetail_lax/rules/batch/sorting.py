"""Sorting over a mapped axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules
from dovetail_core import Primitive

from ...primitives.sorting import approx_top_k_p, sort_p, top_k_p
from .axes import aligned_arrays


@batch_rules.register(sort_p)
def _sort(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], *, dimension: int, **params: Any
) -> tuple[Any, Any]:
    operands, dim = aligned_arrays(axis.size, args, dims)
    out = sort_p.bind(*operands, dimension=dimension + (dimension >= dim), **params)
    return out, [dim] * len(out)


def _largest(primitive: Primitive, axis_name: str) -> None:
    def rule(
        mapped: Any, args: Sequence[Any], dims: Sequence[Any], /, **params: Any
    ) -> tuple[Any, Any]:
        dim: int = dims[0]
        position: int = params[axis_name]
        params[axis_name] = position + (position >= dim)
        return primitive.bind(args[0], **params), [dim, dim]

    batch_rules.set(primitive, rule)


_largest(top_k_p, "axis")
_largest(approx_top_k_p, "reduction_dimension")
