"""Batching of barriers: all operands together, wherever their mapped axes are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules

from ...primitives.identity import optimization_barrier_p


@batch_rules.register(optimization_barrier_p)
def _optimization_barrier(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None]
) -> tuple[list[Any], Sequence[int | None]]:
    return optimization_barrier_p.bind(*args), dims
