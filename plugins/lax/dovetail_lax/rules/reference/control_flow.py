"""Branches and loops with NumPy: Python's own control flow around evaluated programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import evaluate, reference_rules
from dovetail_core import ClosedJaxpr

from ...primitives.control_flow import (
    branch_for,
    cond_p,
    platform_dependent_p,
    scan_p,
    while_p,
    while_parts,
)


@reference_rules.register(cond_p)
def _cond_reference(index: Any, *operands: Any, branches: tuple[ClosedJaxpr, ...]) -> list[Any]:
    return evaluate(branches[min(max(int(index), 0), len(branches) - 1)], *operands)


@reference_rules.register(platform_dependent_p)
def _platform_dependent(
    *operands: Any, branches: tuple[ClosedJaxpr, ...], platforms: Any
) -> list[Any]:
    return evaluate(branch_for("reference", branches, platforms), *operands)


@reference_rules.register(while_p)
def _while_reference(*operands: Any, **params: Any) -> list[Any]:
    loop = while_parts(operands, params)
    carry = list(loop.carry)
    while evaluate(loop.condition, *loop.condition_consts, *carry)[0]:
        carry = evaluate(loop.body, *loop.body_consts, *carry)
    return carry


@reference_rules.register(scan_p)
def _scan_reference(*operands: Any, **params: Any) -> list[Any]:
    program: ClosedJaxpr = params["jaxpr"]
    nc, nk, n = params["num_consts"], params["num_carry"], params["length"]
    consts, carry, xs = operands[:nc], list(operands[nc : nc + nk]), operands[nc + nk :]
    y_avals: Any = program.out_avals[nk:]
    ys = [np.zeros((n, *a.shape), a.dtype) for a in y_avals]
    for i in reversed(range(n)) if params["reverse"] else range(n):
        outs = evaluate(program, *consts, *carry, *(x[i] for x in xs))
        carry = outs[:nk]
        for y, value in zip(ys, outs[nk:]):
            y[i] = value
    return carry + ys
