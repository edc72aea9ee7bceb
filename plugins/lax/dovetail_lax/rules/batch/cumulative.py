"""Cumulative operations over a mapped axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules
from dovetail_core import Primitive

from ...primitives.cumulative import cumlogsumexp_p, cummax_p, cummin_p, cumprod_p, cumsum_p


def _cumulative(primitive: Primitive) -> None:
    def rule(
        mapped: Any, args: Sequence[Any], dims: Sequence[Any], *, axis: int, reverse: bool
    ) -> tuple[Any, int]:
        dim: int = dims[0]
        return primitive.bind(args[0], axis=axis + (axis >= dim), reverse=reverse), dim

    batch_rules.set(primitive, rule)


for _primitive in (cumsum_p, cumprod_p, cummax_p, cummin_p, cumlogsumexp_p):
    _cumulative(_primitive)
