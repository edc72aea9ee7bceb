"""Costs of scatters: what they read."""

from __future__ import annotations

from dovetail_remat import cost_rules

from ...primitives.gather import (
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from .kinds import reading

for _primitive in (
    scatter_add_p, scatter_max_p, scatter_min_p, scatter_mul_p, scatter_p, scatter_sub_p,
):  # fmt: skip
    cost_rules.set(_primitive, reading)
