"""What a policy keeps of a program, also of what is computed in each step of a loop inside, in a
branch that is taken, or on each device of a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dovetail_core import (
    ClosedJaxpr,
    Eqn,
    Kind,
    Part,
    RegionInterface,
    Slot,
    Var,
    assemble,
    jaxpr_as_fun,
    slots_of,
    stage_closed,
    zeros_like_aval,
)

from ..parts import without
from ..primitive import name_p
from ..verdicts import Offloadable, Policy, Recompute, verdict
from .inlining import inlined


@dataclass(frozen=True)
class Kept:
    """A program and what is kept of it.

    Attributes:
        program: loops in it also return, stacked, what is kept of each step, branches what is kept
            of any (zeros where another one is taken), and what runs on each device of a mesh what
            is kept there.
        values: what is kept, and in which memory if it is moved.
        again: for such equations, by identity: the one that computes it again, which takes those.
    """

    program: ClosedJaxpr
    values: dict[Var, Offloadable | None] = field(default_factory=dict[Var, Offloadable | None])
    again: dict[int, Eqn] = field(default_factory=dict[int, Eqn])

    def second(self, eqn: Eqn, aliases: dict[Any, Var]) -> Eqn | None:
        """The equation as it is computed again; None if all that it defines is kept."""
        eqn = self.again.get(id(eqn), eqn)
        return without(eqn, self.values, aliases)

    @property
    def aliases(self) -> dict[Any, Var]:
        """Values that are kept under a name as well: a name's operand is the value itself."""
        made = {v for e in self.program.eqns for v in e.outvars}
        return {
            e.invars[0]: e.outvars[0]
            for e in self.program.eqns
            if e.primitive is name_p and e.outvars[0] in self.values
            if e.invars[0] in made and e.invars[0] not in self.values
        }  # fmt: skip


def kept_of(program: ClosedJaxpr, policy: Policy) -> Kept:
    """What a policy keeps of a program whose calls are inlined."""
    eqns: list[Eqn] = []
    values: dict[Var, Offloadable | None] = {}
    again: dict[int, Eqn] = {}
    made: set[Var] = set()
    for eqn in program.eqns:
        made.update(eqn.outvars)
        answer = verdict(policy, eqn)
        if answer is Recompute:
            parts = _within(eqn, policy)
            if parts is not None:
                eqn, again[id(parts[0])], more = parts
                values |= more
        else:
            where = answer if isinstance(answer, Offloadable) else None
            # A name of an input is no value of its own: it is there in any case.
            if where or eqn.primitive is not name_p or eqn.invars[0] in made:
                values.update((v, where) for v in eqn.outvars)
        eqns.append(eqn)
    if again:
        program = ClosedJaxpr(program.jaxpr.replace(eqns=eqns), program.consts)
    return Kept(program, values, again)


def _within(eqn: Eqn, policy: Policy) -> tuple[Eqn, Eqn, dict[Var, Offloadable | None]] | None:
    """A loop that returns what is kept of its steps, the loop that takes it, and the stacks; or
    the same of branches, and of what runs on each device."""
    if eqn.primitive.regions is None or eqn.effects:
        return None
    interface: RegionInterface = eqn.primitive.regions(eqn.params)
    is_choice = interface.is_choice
    if interface.is_open_ended or not (interface.is_loop or interface.axes or is_choice):
        return None
    made, given = (Kind.STACKED, Kind.SLICED) if interface.is_loop else (Kind.PLAIN, Kind.CONSTANT)
    inner = [kept_of(inlined(r.program, policy), policy) for r in interface.regions]
    if not any(kept.values for kept in inner):
        return None
    operands, results = slots_of(interface, eqn.invars)
    first: list[Part] = []
    second: list[Part] = []
    slots = [[(Slot(made), Slot(given), w) for w in kept.values.values()] for kept in inner]
    stacks = [new for own in slots for new in own]
    for n, (region, kept) in enumerate(zip(interface.regions, inner)):
        among, new = (inner, stacks) if is_choice else ([kept], slots[n])
        ins = [operands[i] for i in region.operands]
        outs = [results[r] for r in region.results]
        first.append(Part(_returning(kept, among), ins, [*outs, *(s for s, _, _ in new)]))
        second.append(Part(_taking(kept, among), [*ins, *(s for _, s, _ in new)], outs))
    one = assemble(interface.rebuild, first, operands, [*results, *(s for s, _, _ in stacks)])
    avals = tuple([s.value.aval for s in one.operands])
    types = dict(zip(one.results, eqn.primitive.infer(avals, one.params).avals))
    variables = {**dict(zip(results, eqn.outvars)), **{s: Var(types[s]) for s, _, _ in stacks}}
    for returned, taken, _ in stacks:
        taken.value = variables[returned]
    two = assemble(interface.rebuild, second, [*operands, *(s for _, s, _ in stacks)], results)
    return (
        eqn.replace(outvars=[variables[s] for s in one.results], params=one.params),
        eqn.replace(invars=[s.value for s in two.operands], params=two.params),
        {variables[s]: where for s, _, where in stacks},
    )


def _returning(kept: Kept, among: Sequence[Kept]) -> ClosedJaxpr:
    """The program that also returns what is kept of it, and zeros for what is of others."""
    jaxpr = kept.program.jaxpr
    outvars = [*jaxpr.outvars, *kept.values]
    program = ClosedJaxpr(jaxpr.replace(outvars=outvars), kept.program.consts)
    if all(k is kept or not k.values for k in among):
        return program
    n = len(jaxpr.outvars)

    def filled(*args: Any) -> list[Any]:
        outs = jaxpr_as_fun(program)(*args)
        rows = [
            outs[n:] if k is kept else [zeros_like_aval(v.aval) for v in k.values] for k in among
        ]
        return [*outs[:n], *(x for row in rows for x in row)]

    return stage_closed(filled, program.in_avals, jaxpr.name)


def _taking(kept: Kept, among: Sequence[Kept]) -> ClosedJaxpr:
    """The program that takes what is kept in place of computing it, and does not use what is kept
    of others."""
    jaxpr, same = kept.program.jaxpr, kept.aliases
    given = [v if k is kept else Var(v.aval) for k in among for v in k.values]
    changed = jaxpr.replace(
        invars=[*jaxpr.invars, *given],
        outvars=[same.get(x, x) for x in jaxpr.outvars],
        eqns=[e for e in (kept.second(e, same) for e in jaxpr.eqns) if e is not None],
    )
    return ClosedJaxpr(changed, kept.program.consts)
