"""Linearizing a call: a call of the known part, and a recorded call of the linear rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import LinearTrace, partial_eval_rules, split_program

from ...primitive import call_program, jit_p


@partial_eval_rules.register(jit_p)
def _jit_partial_eval(trace: LinearTrace, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    name = params["name"]
    unknown = tuple(trace.owns(x) for x in args)
    split = split_program(params["program"], unknown)
    known_inputs = [x for x, u in zip(args, unknown) if not u]
    found = call_program(split.known, name, known_inputs)
    n = split.num_known_outputs
    residuals = split.residual_values(known_inputs, found[n:])
    operands = [*residuals, *(x for x, u in zip(args, unknown) if u)]
    if not any(split.out_unknown):
        return found[:n]
    linear = {"program": split.linear, "name": name, "donated": (False,) * len(operands)}
    return split.merge(found[:n], trace.record(jit_p, operands, linear))
