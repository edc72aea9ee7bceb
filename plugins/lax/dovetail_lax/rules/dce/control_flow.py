"""Dead code in branches and loops: reduce the programs to what the used results need."""

from __future__ import annotations

from typing import Any

from dovetail_core import ClosedJaxpr, Eqn, dce_closed, dce_rules
from dovetail_core.rules.dce import narrowed
from dovetail_core.types.effects import lasting

from ...primitives.control_flow import cond_p, scan_p, while_p

Reduced = tuple[list[bool], Eqn | None]


def _reduced(eqn: Eqn, needed: list[bool], used: list[bool], params: dict[str, Any]) -> Reduced:
    return needed, narrowed(eqn, needed, used, params)


def _whole(eqn: Eqn) -> Reduced:
    return [True] * len(eqn.invars), eqn


@dce_rules.register(cond_p)
def _cond_dce(used: list[bool], eqn: Eqn) -> Reduced:
    if lasting(eqn.effects):
        return _whole(eqn)
    if not any(used):
        return [False] * len(eqn.invars), None
    branches: tuple[ClosedJaxpr, ...] = eqn.params["branches"]
    needs = [dce_closed(b, used)[1] for b in branches]
    needed = [any(flags) for flags in zip(*needs)]
    reduced = tuple(dce_closed(b, used, needed)[0] for b in branches)
    return _reduced(eqn, [True, *needed], used, {"branches": reduced})


@dce_rules.register(scan_p)
def _scan_dce(used: list[bool], eqn: Eqn) -> Reduced:
    if lasting(eqn.effects):
        return _whole(eqn)
    if not any(used):
        return [False] * len(eqn.invars), None
    program: ClosedJaxpr = eqn.params["program"]
    nc, nk = eqn.params["num_consts"], eqn.params["num_carry"]
    used = list(used)
    while True:  # a carry is used if it is a used result or the body needs it for one
        needed = dce_closed(program, used)[1]
        carry = [u or n for u, n in zip(used[:nk], needed[nc : nc + nk])]
        if carry == used[:nk]:
            break
        used[:nk] = carry
    needed[nc : nc + nk] = used[:nk]
    reduced = dce_closed(program, used, needed)[0]
    counts = {"num_consts": sum(needed[:nc]), "num_carry": sum(needed[nc : nc + nk])}
    return _reduced(eqn, needed, used, {"program": reduced, **counts})


@dce_rules.register(while_p)
def _while_dce(used: list[bool], eqn: Eqn) -> Reduced:
    if lasting(eqn.effects):
        return _whole(eqn)
    if not any(used):
        return [False] * len(eqn.invars), None
    condition: ClosedJaxpr = eqn.params["condition"]
    body: ClosedJaxpr = eqn.params["body"]
    nc = eqn.params["num_consts"]
    tested = dce_closed(condition, [True])[1]
    used = [u or t for u, t in zip(used, tested[nc:])]
    while True:
        needed = dce_closed(body, used)[1]
        carry = [u or n for u, n in zip(used, needed[nc:])]
        if carry == used:
            break
        used = carry
    needed = [t or n for t, n in zip(tested[:nc], needed[:nc])] + used
    programs = {
        "condition": dce_closed(condition, [True], needed)[0],
        "body": dce_closed(body, used, needed)[0],
        "num_consts": sum(needed[:nc]),
    }
    return _reduced(eqn, needed, used, programs)
