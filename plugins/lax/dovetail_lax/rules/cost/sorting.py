"""Costs of sorts."""

from __future__ import annotations

from math import log2
from typing import Any

from dovetail_remat import cost_rules

from ...primitives.sorting import sort_p, top_k_p


def _sorting(ins: Any, outs: Any, /, *, dimension: int = -1, **params: Any) -> float:
    """n log2(n) comparisons along the axis."""
    total = sum(a.size for a in ins)
    n = ins[0].shape[dimension] if ins[0].shape else 1
    return total * max(log2(max(n, 2)), 1.0)


for _primitive in (sort_p, top_k_p):
    cost_rules.set(_primitive, _sorting)
