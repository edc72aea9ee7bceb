"""Differentiating a call in reverse mode.

Linearized, it is a call of the known part and a recorded call of the linear rest; transposed, a
call of the transposed program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import (
    LinearTrace,
    is_linear,
    partial_eval_rules,
    split_program,
    transpose_program,
    transpose_rules,
)

from ..primitive import call_program, jit_p


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


@transpose_rules.register(jit_p)
def _jit_transpose(
    cotangents: Sequence[Any], *args: Any, program: Any, name: str, donated: Any
) -> list[Any]:
    linear = tuple(is_linear(x) for x in args)
    given = tuple(ct is not None for ct in cotangents)
    transposed, nonzero = transpose_program(program, linear, given)
    values = [x for x, live in zip(args, linear) if not live]
    cts = [ct for ct in cotangents if ct is not None]
    found = iter(call_program(transposed, name, [*values, *cts]))
    have = iter(nonzero)
    return [next(found) if live and next(have) else None for live in linear]
