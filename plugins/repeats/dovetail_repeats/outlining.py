"""The pass ``repeats``: large parts of a program that repeat become calls of one program.

XLA takes about as long for the thirtieth layer of a model as for the first, and longer where it
fuses operations across layers (a sum that goes through all of them is computed anew in each). A
call that it keeps is compiled once, with small costs per call.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_

from dovetail_core import ClosedJaxpr, Eqn, Jaxpr, Operand, Pass
from dovetail_core.types.effects import NO_EFFECTS

from .flattening import count_flattened, flattened
from .instances import (
    Group,
    groups,
    inputs_of,
    last_uses,
    nbytes,
    shared_program,
    varied_literals,
)
from .kinds import coarse_kinds, kinds
from .primitive import repeated_p
from .runs import Run, runs
from .settings import compile_repeats_once
from .sinking import is_cheap, sunk

_LENGTH = 32
"""The least equations of an instance: XLA knows short ones again by itself, when it has fused."""
_SAVED = 192
"""The least equations that need not be compiled."""
_KERNELS = 20
"""Among how many equations there is at least one that is no arithmetic on elements. Long ones of
these XLA fuses into few kernels, also across instances."""
_HANDED_ON = 0.1
"""Which part of an instance's bytes may at most go to the next one: what instances add up, as the
gradient of a stack of which each uses a slice, XLA adds up in one kernel."""


def outlined(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program with calls in place of what repeats and is worth it, in loops, too."""
    if not compile_repeats_once.value:
        return program
    if count_flattened(program.jaxpr) >= _LENGTH + _SAVED:
        jaxpr = flattened(program.jaxpr)
        if any(map(_may_pay, runs(coarse_kinds(jaxpr.eqns)))):
            jaxpr = sunk(jaxpr, _worthwhile(jaxpr))
            found = _worthwhile(jaxpr)
            program = program.replace(_with_calls(jaxpr, found)) if found else program
    return _with_parts(program)


def _with_parts(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program with what repeats inside of its loops, branches and calls outlined there."""
    eqns = [_with_part(e) if e.primitive.regions is not None else e for e in program.eqns]
    if all(map(is_, eqns, program.eqns)):
        return program
    return program.replace(program.jaxpr.replace(eqns=eqns))


def _with_part(eqn: Eqn) -> Eqn:
    interface = eqn.primitive.regions(eqn.params) if eqn.primitive.regions else None
    if interface is None or eqn.primitive.anonymous:
        return eqn
    before = [r.program for r in interface.regions]
    after = [p.memo("repeats", lambda p=p: outlined(p)) for p in before]
    if all(map(is_, before, after)):
        return eqn
    operands = [Operand(kind, i) for i, kind in enumerate(interface.operands)]
    return eqn.replace(params=interface.rebuild(after, operands))


def _may_pay(run: Run) -> bool:
    return run.period >= _LENGTH and run.saved >= _SAVED


def _worthwhile(jaxpr: Jaxpr) -> list[Group]:
    """What repeats and is worth it."""
    uses = last_uses(jaxpr)
    found = [g for r in runs(kinds(jaxpr.eqns)) if _may_pay(r) for g in groups(jaxpr.eqns, r, uses)]
    return [g for g in found if _pays(g, g.instances(jaxpr.eqns)[0])]


def _pays(group: Group, eqns: Sequence[Eqn]) -> bool:
    """Whether a group is worth it; effects have an order, which calls would not keep."""
    if (len(group.starts) - 1) * group.length < _SAVED or any(e.effects for e in eqns):
        return False
    if group.handed_on > _HANDED_ON * sum(nbytes(v.aval) for e in eqns for v in e.outvars):
        return False
    kernels = sum(not (is_cheap(e) or e.primitive.traits.elementwise) for e in eqns)
    return kernels * _KERNELS >= group.length


def _with_calls(jaxpr: Jaxpr, found: Sequence[Group]) -> Jaxpr:
    """The program with a call in place of each instance."""
    calls: dict[int, tuple[int, Eqn]] = {}
    for group in found:
        instances = group.instances(jaxpr.eqns)
        varied = varied_literals(instances)
        params = {"jaxpr": shared_program(instances[0], group.results, varied)}
        for start, eqns in zip(group.starts, instances):
            outs = [eqns[i].outvars[k] for i, k in group.results]
            ins = inputs_of(eqns, varied).values()
            call = Eqn(repeated_p, [*ins], outs, params, NO_EFFECTS, eqns[0].source)
            calls[start] = group.length, call
    made: list[Eqn] = []
    at = 0
    while at < len(jaxpr.eqns):
        length, eqn = calls.get(at, (1, jaxpr.eqns[at]))
        made.append(eqn)
        at += length
    return jaxpr.replace(eqns=made)


REPEATS = Pass("repeats", "ir", outlined, after=("discharge",))
"""Runs before a program is lowered."""
