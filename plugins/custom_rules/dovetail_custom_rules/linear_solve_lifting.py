"""Linear solves under a transformation that lifts values: the solve of the lifted programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import lift_call, lift_program
from dovetail_high.lowering import LowCarrier

from .linear_solve import (
    LinearSolveTuple,
    inlined,
    joined,
    linear_solve_p as linear_solve_p,
    split,
)

Structures = tuple[Any, ...]


def lift(carrier: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    """Apply it to lifted operands.

    Values that are many instances, or are made of several arrays, are solved for as such. Others
    (series, parts with a structure of their own) are not the right-hand side of a linear map, so
    that the solver's operations are lifted.
    """
    if not carrier.has_instances and not isinstance(carrier, LowCarrier):
        return lift_call(carrier, lambda *xs: inlined(*xs, **params), args)
    groups, rhs = split(args, params["const_lengths"])
    ins = LinearSolveTuple(*[tuple(carrier.structure(c, 0) for c in g) for g in groups])
    x = _solution(carrier, params["jaxprs"], ins, tuple(carrier.structure(b, 0) for b in rhs))
    programs, aux = _programs(carrier, params["jaxprs"], ins, x)
    arrays = LinearSolveTuple(*[_arrays(carrier, g, s) for g, s in zip(groups, ins)])
    outs = linear_solve_p.bind(
        *joined(arrays, _arrays(carrier, rhs, x)),
        const_lengths=LinearSolveTuple(*map(len, arrays)),
        jaxprs=programs,
    )
    result: list[Any] = []
    at = 0
    for aval, s in zip(params["jaxprs"].solve.out_avals, (*x, *aux)):
        n = len(carrier.types(aval, s))
        result.append(carrier.value(outs[at : at + n], s, 0))
        at += n
    return result


def _arrays(carrier: Any, values: Sequence[Any], structures: Structures) -> list[Any]:
    return [a for v, s in zip(values, structures) for a in carrier.arrays(v, s, 0)]


def _solution(
    carrier: Any, programs: LinearSolveTuple, ins: LinearSolveTuple, x: Structures
) -> Structures:
    """The least structure of right-hand side and solution: what each program makes of it, it
    has."""
    while True:
        before = x
        for program, consts in zip(programs, ins):
            if program is not None:
                outs = lift_program(carrier, program, consts + x)[1]
                x = tuple(map(carrier.join_structures, x, outs))
        if x == before:
            return x


def _programs(
    carrier: Any, programs: LinearSolveTuple, ins: LinearSolveTuple, x: Structures
) -> tuple[LinearSolveTuple, Structures]:
    """The lifted programs, and the structures of the solver's further results."""
    result: dict[str, Any] = {}
    further: dict[str, Structures] = {}
    for name, program, consts in zip(LinearSolveTuple._fields, programs, ins):
        if program is None:
            result[name] = None
            continue
        outs = lift_program(carrier, program, consts + x)[1]
        further[name] = outs[len(x) :]
        result[name] = lift_program(carrier, program, consts + x, x + further[name])[0]
    return LinearSolveTuple(**result), further["solve"]


linear_solve_p.lift = lift
assert linear_solve_p.rules is not None
linear_solve_p.rules["to_lo"] = lambda *args, **params: lift(
    LowCarrier(linear_solve_p.name), args, params
)
