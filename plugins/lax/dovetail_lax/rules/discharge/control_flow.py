"""References in branches and loops: what they hold is passed in, carried along, and passed out.

A reference that a loop's body writes becomes part of the carry, one that it only reads a constant;
a branch that does not write a reference that another one writes returns what it was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, Trace, current_source, describe_source
from dovetail_refs import Operands, discharge_program, discharge_rules

from ...primitives.control_flow import cond_p, scan_p, while_p


def _rearranged(program: ClosedJaxpr, inputs: Sequence[int], outputs: Sequence[int]) -> ClosedJaxpr:
    jaxpr = program.jaxpr
    moved = jaxpr.replace(
        invars=[jaxpr.invars[i] for i in inputs], outvars=[jaxpr.outvars[i] for i in outputs]
    )
    return ClosedJaxpr(moved, program.consts)


@discharge_rules.register(cond_p)
def _cond(trace: Trace, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    index, *rest = args
    operands = Operands(trace, rest)
    branches: tuple[ClosedJaxpr, ...] = params["branches"]
    n = len(branches[0].out_avals)
    found = [discharge_program(b, operands.own) for b in branches]
    written = sorted({i for f in found for i in f.written})
    programs: list[ClosedJaxpr] = []
    for program, own in found:
        jaxpr = program.jaxpr
        finals = dict(zip(operands.positions(own), jaxpr.outvars[n:]))
        new = [finals.get(k, jaxpr.invars[k]) for k in operands.positions(written)]
        outvars = [*jaxpr.outvars[:n], *new]
        programs.append(ClosedJaxpr(jaxpr.replace(outvars=outvars), program.consts))
    outs = cond_p.bind(index, *operands.flat, branches=tuple(programs))
    operands.update(written, outs[n:])
    return outs[:n]


@discharge_rules.register(scan_p)
def _scan(trace: Trace, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    operands = Operands(trace, args)
    nc, nk = params["num_consts"], params["num_carry"]
    program, written = discharge_program(params["program"], operands.own)
    order, moved = _order(operands, written, nc, nk)
    outs = len(program.out_avals)
    results = [*range(nk), *range(outs - len(moved), outs), *range(nk, outs - len(moved))]
    flat = operands.flat
    found = scan_p.bind(
        *[flat[i] for i in order],
        **{
            **params,
            "program": _rearranged(program, order, results),
            "num_consts": sum(operands.widths[:nc]) - len(moved),
            "num_carry": nk + len(moved),
        },
    )
    operands.update(written, found[nk : nk + len(moved)])
    return found[:nk] + found[nk + len(moved) :]


def _order(
    operands: Operands, written: Sequence[int], nc: int, nk: int
) -> tuple[list[int], list[int]]:
    """Constants, carry, written contents, then the rest, by positions among all operands."""
    moved = operands.positions(written)
    consts = [k for k in operands.positions(range(nc)) if k not in moved]
    carry = operands.positions(range(nc, nc + nk))
    rest = operands.positions(range(nc + nk, len(operands.args)))
    return [*consts, *carry, *moved, *rest], moved


@discharge_rules.register(while_p)
def _while(trace: Trace, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    operands = Operands(trace, args)
    nc: int = params["num_consts"]
    n = len(args) - nc
    test, tested = discharge_program(params["condition"], operands.own)
    if tested:
        raise TypeError(
            f"the condition of a while loop writes to {args[tested[0]].aval.str_short()}"
            f"{describe_source(current_source())}: it may only read. Write in the body."
        )
    body, written = discharge_program(params["body"], operands.own)
    order, moved = _order(operands, written, nc, n)
    flat = operands.flat
    found = while_p.bind(
        *[flat[i] for i in order],
        condition=_rearranged(test, order, [0]),
        body=_rearranged(body, order, range(n + len(moved))),
        num_consts=sum(operands.widths[:nc]) - len(moved),
    )
    operands.update(written, found[n:])
    return found[:n]
