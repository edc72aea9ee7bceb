"""Costs of reductions: what they read."""

from __future__ import annotations

from dovetail_remat import cost_rules

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
from .kinds import reading

for _primitive in (
    argmax_p, argmin_p, reduce_and_p, reduce_max_p, reduce_min_p, reduce_or_p, reduce_p,
    reduce_prod_p, reduce_sum_p, reduce_xor_p,
):  # fmt: skip
    cost_rules.set(_primitive, reading)
