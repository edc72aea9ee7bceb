"""Running a checkpointed call: its program, behind a barrier that keeps compilers off it."""

from __future__ import annotations

from typing import Any

from dovetail_backends import evaluate, reference_rules, stablehlo_rules
from dovetail_core import ClosedJaxpr

from ...primitive import remat_p


@stablehlo_rules.register(remat_p)
def _remat_stablehlo(
    b: Any,
    *operands: Any,
    program: ClosedJaxpr,
    policy: Any,
    prevent_cse: bool,
    differentiated: bool,
) -> list[Any]:
    if prevent_cse and differentiated and operands:
        avals = [x.aval for x in operands]
        operands = tuple(b.op("stablehlo.optimization_barrier", operands, avals))
    return b.inline(program, operands)


@reference_rules.register(remat_p)
def _remat_reference(*args: Any, program: ClosedJaxpr, **params: Any) -> list[Any]:
    return evaluate(program, *args)
