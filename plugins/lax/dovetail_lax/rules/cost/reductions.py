"""The work of reductions and sorts, which read more than they write."""

from __future__ import annotations

from math import log2
from typing import Any

from dovetail_remat import cost_rules

from ...primitives.gather import (
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from ...primitives.reductions import (
    argmax_p,
    argmin_p,
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_p,
    reduce_prod_p,
    reduce_sum_p,
    reduce_xor_p,
)
from ...primitives.sorting import sort_p, top_k_p


def _reading(ins: Any, outs: Any, /, **params: Any) -> float:
    """One operation for each element that is read."""
    return float(sum(a.size for a in ins))


def _sorting(ins: Any, outs: Any, /, *, dimension: int = -1, **params: Any) -> float:
    """n log2(n) comparisons along the axis."""
    total = sum(a.size for a in ins)
    n = ins[0].shape[dimension] if ins[0].shape else 1
    return total * max(log2(max(n, 2)), 1.0)


for _primitive in (
    argmax_p, argmin_p, reduce_and_p, reduce_max_p, reduce_min_p, reduce_or_p, reduce_p,
    reduce_prod_p, reduce_sum_p, reduce_xor_p, scatter_add_p, scatter_max_p, scatter_min_p,
    scatter_mul_p, scatter_p, scatter_sub_p,
):  # fmt: skip
    cost_rules.set(_primitive, _reading)
for _primitive in (sort_p, top_k_p):
    cost_rules.set(_primitive, _sorting)
