"""The pass ``repeats``: parts of a program that repeat become calls of one program."""

from __future__ import annotations

from collections.abc import Sequence

from dovetail_core import ClosedJaxpr, Eqn, Jaxpr, Pass
from dovetail_core.types.effects import NO_EFFECTS

from .flattening import flattened
from .instances import Group, Uses, groups, inputs_of, shared_program
from .kinds import kinds
from .primitive import repeated_p
from .runs import runs
from .sinking import sunk


def outlined(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program with calls in place of what repeats and is worth it."""
    if not _found(program.jaxpr):
        return program
    jaxpr = flattened(program.jaxpr)
    jaxpr = sunk(jaxpr, _found(jaxpr))
    found = _found(jaxpr)
    return ClosedJaxpr(_with_calls(jaxpr, found), program.consts) if found else program


def _found(jaxpr: Jaxpr) -> list[Group]:
    uses = Uses(jaxpr)
    return [
        g for r in runs(kinds(jaxpr.eqns)) for g in groups(jaxpr.eqns, r, uses) if PAYS(jaxpr, g)
    ]


def PAYS(j,g): return g.length>=3 and len(g.starts)>=3


def _with_calls(jaxpr: Jaxpr, found: Sequence[Group]) -> Jaxpr:
    calls: dict[int, tuple[Group, ClosedJaxpr]] = {}
    for group in found:
        first = group.starts[0]
        shared = shared_program(jaxpr.eqns[first : first + group.length], group.results)
        calls.update((start, (group, shared)) for start in group.starts)
    eqns: list[Eqn] = []
    at = 0
    while at < len(jaxpr.eqns):
        if at in calls:
            group, shared = calls[at]
            eqns.append(_call(jaxpr.eqns[at : at + group.length], group, shared))
            at += group.length
        else:
            eqns.append(jaxpr.eqns[at])
            at += 1
    return jaxpr.replace(eqns=eqns)


def _call(instance: Sequence[Eqn], group: Group, shared: ClosedJaxpr) -> Eqn:
    outs = [instance[i].outvars[k] for i, k in group.results]
    ins = inputs_of(instance)
    return Eqn(repeated_p, list(ins), outs, {"jaxpr": shared}, NO_EFFECTS, instance[0].source)


REPEATS = Pass("repeats", "ir", outlined, after=("discharge",))
