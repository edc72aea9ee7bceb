"""The transformation of the pass ``repeats``: large repeated parts become calls of one program.

XLA takes about as long for the thirtieth layer of a model as for the first, and longer if it fuses
operations across layers (a sum that goes through all of them is computed again in each). A function
that it does not inline is compiled once, at a small cost per call.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_

from dovetail_core import NO_EFFECTS, ClosedJaxpr, Eqn, Jaxpr, Operand
from dovetail_jit import jit_p

from .flattening import count_flattened, count_written, flat_equations, flattened
from .instances import (
    Group,
    groups,
    inputs_of,
    last_uses,
    nbytes,
    shared_program,
    varied_literals,
)
from .options import LENGTH, SAVED, compile_repeats_once
from .primitive import repeated_p
from .runs import Run, coarse_kinds, kinds, runs
from .sinking import is_cheap, sunk

_FLATTENED = 64
"""The largest ratio of the equations with calls written out to those as written: in a nest of calls
they would be exponentially many."""
_KERNELS = 20
"""Of so many equations at least one must be more than arithmetic on elements. Long sequences of
such arithmetic XLA fuses into few kernels, also across instances."""
_CARRIED = 0.1
"""The largest share of an instance's bytes that may go to the next one: values that instances add
up, as the gradient of a stack of which each uses a slice, XLA adds up in one kernel."""


def outlined(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program with repeated parts replaced by calls where that pays, in loops, too."""
    return _outlined(program, is_new=True) if compile_repeats_once.value else program


def _outlined(program: ClosedJaxpr, is_new: bool) -> ClosedJaxpr:
    """``is_new``: its equations were not inspected as a part of the program that calls it."""
    is_new = is_new and _is_inspected(program)
    if is_new and _may_repeat(flat_equations(program)):
        jaxpr = flattened(program.jaxpr)
        numbers = kinds(jaxpr.eqns)
        jaxpr, numbers = sunk(jaxpr, numbers, _worthwhile(jaxpr, numbers))
        result = _worthwhile(jaxpr, numbers)
        program = program.replace(_with_calls(jaxpr, result)) if result else program
    eqns = [_with_parts(e, is_new) if e.primitive.regions else e for e in program.eqns]
    if all(map(is_, eqns, program.eqns)):
        return program
    return program.replace(program.jaxpr.replace(eqns=eqns))


def _is_inspected(program: ClosedJaxpr) -> bool:
    count = count_flattened(program)
    return LENGTH + SAVED <= count <= _FLATTENED * count_written(program)


def _with_parts(eqn: Eqn, is_known: bool) -> Eqn:
    """An equation with repeated parts outlined in its regions.

    ``is_known``: programs that it calls were inspected with the calling program.
    """
    interface = eqn.primitive.regions(eqn.params) if eqn.primitive.regions else None
    if interface is None or eqn.primitive.anonymous:
        return eqn
    new = not (is_known and eqn.primitive is jit_p)
    before = [r.program for r in interface.regions]
    after = [p.memo(("repeats", new), lambda p=p: _outlined(p, new)) for p in before]
    if all(map(is_, before, after)):
        return eqn
    operands = [Operand(kind, i) for i, kind in enumerate(interface.operands)]
    return eqn.replace(params=interface.rebuild(after, operands))


def _may_repeat(eqns: Sequence[Eqn]) -> bool:
    """Tell whether a closer analysis may result in calls."""
    result = filter(_may_pay, runs(coarse_kinds(eqns), LENGTH))
    return any(_has_kernels(eqns[r.start : r.start + r.period]) for r in result)


def _may_pay(run: Run) -> bool:
    return run.saved >= SAVED


def _worthwhile(jaxpr: Jaxpr, numbers: Sequence[int]) -> list[Group]:
    """The groups of instances that pay, for equations of kinds with these numbers."""
    uses = last_uses(jaxpr)
    result = [g for r in runs(numbers, LENGTH) if _may_pay(r) for g in groups(jaxpr.eqns, r, uses)]
    return [g for g in result if _pays(g, g.instances(jaxpr.eqns)[0])]


def _pays(group: Group, eqns: Sequence[Eqn]) -> bool:
    """Tell whether a group pays. Not with effects: calls would not keep their order."""
    if (len(group.starts) - 1) * group.length < SAVED or any(e.effects for e in eqns):
        return False
    if group.carried > _CARRIED * sum(nbytes(v.aval) for e in eqns for v in e.outvars):
        return False
    return _has_kernels(eqns)


def _has_kernels(eqns: Sequence[Eqn]) -> bool:
    """Tell whether enough of the equations are more than arithmetic on elements."""
    kernels = sum(not (is_cheap(e) or e.primitive.traits.elementwise) for e in eqns)
    return kernels * _KERNELS >= len(eqns)


def _with_calls(jaxpr: Jaxpr, result: Sequence[Group]) -> Jaxpr:
    """The program with each instance replaced by a call."""
    calls: dict[int, tuple[int, Eqn]] = {}
    for group in result:
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
