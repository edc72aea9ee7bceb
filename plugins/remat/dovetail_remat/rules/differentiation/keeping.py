"""What a policy keeps of a program, also of what is computed in each step of a loop inside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dovetail_core import ClosedJaxpr, Eqn, Var

from ...parts import without
from ...primitive import name_p
from ...verdicts import Offloadable, Policy, Recompute, verdict
from .opening import opened


@dataclass(frozen=True)
class Kept:
    """A program and what is kept of it.

    Attributes:
        program: loops in it also return, stacked, what is kept of each step.
        values: what is kept, and in which memory if it is moved.
        again: for such loops, by identity: the loop as it is computed again, which takes those.
    """

    program: ClosedJaxpr
    values: dict[Var, Offloadable | None] = field(default_factory=dict[Var, Offloadable | None])
    again: dict[int, Eqn] = field(default_factory=dict[int, Eqn])

    def second(self, eqn: Eqn) -> Eqn | None:
        """The equation as it is computed again; None if all that it defines is kept."""
        eqn = self.again.get(id(eqn), eqn)
        return without(eqn, self.values, self.aliases)

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
    """What a policy keeps of a program whose calls are opened."""
    eqns: list[Eqn] = []
    values: dict[Var, Offloadable | None] = {}
    again: dict[int, Eqn] = {}
    made: set[Var] = set()
    for eqn in program.eqns:
        made.update(eqn.outvars)
        answer = verdict(policy, eqn)
        if answer is Recompute:
            loop = _loop(eqn, policy)
            if loop is not None:
                eqn, again[id(loop[0])], more = loop
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


def _loop(eqn: Eqn, policy: Policy) -> tuple[Eqn, Eqn, dict[Var, Offloadable | None]] | None:
    """A loop that returns what is kept of its steps, the loop that takes it, and the stacks."""
    form = eqn.primitive.regions(eqn.params) if eqn.primitive.regions is not None else None
    if form is None or form.extend is None or eqn.effects:
        return None
    inner = kept_of(opened(form.regions[0].program, policy), policy)
    if not inner.values:
        return None
    jaxpr, consts, values = inner.program.jaxpr, inner.program.consts, list(inner.values)
    first = form.extend(ClosedJaxpr(jaxpr.replace(outvars=[*jaxpr.outvars, *values]), consts))
    second = form.extend(ClosedJaxpr(
        jaxpr.replace(
            invars=[*jaxpr.invars, *values],
            outvars=[inner.aliases.get(x, x) for x in jaxpr.outvars],
            eqns=[e for e in map(inner.second, jaxpr.eqns) if e is not None],
        ),
        consts,
    ))  # fmt: skip
    avals = tuple([x.aval for x in eqn.invars])
    types = eqn.primitive.infer(avals, first).avals[len(eqn.outvars) :]
    stacks = [Var(t) for t in types]
    return (
        eqn.replace(outvars=[*eqn.outvars, *stacks], params=first),
        eqn.replace(invars=[*eqn.invars, *stacks], params=second),
        dict(zip(stacks, inner.values.values())),
    )
