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
    prevent_cse: bool | tuple[bool, ...],
    differentiated: bool,
    effects: str,
) -> list[Any]:
    if differentiated and prevent_cse:
        flags = prevent_cse if isinstance(prevent_cse, tuple) else (True,) * len(operands)
        behind = [x for x, f in zip(operands, flags) if f]
        if behind:
            avals = [x.aval for x in behind]
            found = iter(b.op("stablehlo.optimization_barrier", behind, avals))
            operands = tuple(next(found) if f else x for x, f in zip(operands, flags))
    return b.inline(program, operands)


@reference_rules.register(remat_p)
def _remat_reference(*args: Any, program: ClosedJaxpr, **params: Any) -> list[Any]:
    return evaluate(program, *args)
