"""Counts of products of matrices in a roofline: all else is as if it were fused with them."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax

from ..roofline.cost import Cost, cost_rules, nbytes
from ..roofline.results import RooflineResult, RooflineRuleContext, RooflineShape, roofline_rules


@roofline_rules.register(lax.dot_general_p)
def _dot_general(
    ctx: RooflineRuleContext, /, *shapes: RooflineShape, **params: Any
) -> RooflineResult:
    lhs, rhs = shapes
    cost = cost_rules[ctx.primitive](ctx.avals_in, ctx.avals_out, **params)
    assert isinstance(cost, Cost)
    flops, moved = int(cost.flops), sum(map(nbytes, ctx.avals_out))
    moved += 0 if ctx.pin_lhs_in_vmem else lhs.bytes
    moved += 0 if ctx.pin_rhs_in_vmem else rhs.bytes
    return RooflineResult(
        flops=flops, unfused_flops=flops, hbm_bytes=moved, unfused_hbm_bytes=moved
    )
