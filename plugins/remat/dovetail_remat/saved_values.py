"""The values that a policy keeps of a program, its loops, branches and programs per device.

Calls are inlined first, so that a policy sees the operations in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dovetail_ad import jvp_rules
from dovetail_base.source import get_override, set_override
from dovetail_core import (
    ClosedJaxpr,
    Eqn,
    Kind,
    Literal,
    Part,
    RegionInterface,
    Slot,
    Var,
    assemble,
    evaluation,
    jaxpr_as_fun,
    slots_of,
    stage_closed,
    zeros_like_aval,
)

from .parts import without
from .primitive import name_p, remat_p
from .verdicts import Offloadable, Policy, Recompute, verdict

Wanted = Callable[[Eqn], bool]


def inlined(program: ClosedJaxpr, policy: Policy) -> ClosedJaxpr:
    """The program with calls inlined if the policy keeps a value inside of them."""
    return inlined_where(program, lambda e: _keeps_within(e, policy))


def inlined_all(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program with all calls inlined, except checkpointed ones."""
    return inlined_where(program, lambda e: e.primitive is not remat_p)


def inlined_where(program: ClosedJaxpr, wanted: Wanted) -> ClosedJaxpr:
    """The program with the calls inlined for which ``wanted`` returns True."""
    if not any(_inner(e) is not None and wanted(e) for e in program.eqns):
        return program
    return stage_closed(
        lambda *args: _run(program, args, wanted), program.in_avals, program.jaxpr.name
    )


def _inner(eqn: Eqn) -> ClosedJaxpr | None:
    """The program of an equation that is a plain call of it, else None."""
    if eqn.primitive.regions is None or eqn.primitive.anonymous:
        return None  # an anonymous primitive carries rules of its own
    if jvp_rules.declares(eqn.primitive):
        return None  # inlining it would lose its derivative rule
    interface: RegionInterface = eqn.primitive.regions(eqn.params)
    if len(interface.regions) != 1 or interface.is_loop or interface.control is not None:
        return None
    if interface.axes:
        return None  # it runs on each device, on shards
    region = interface.regions[0]
    plain = region.operands == tuple(range(len(eqn.invars)))
    plain = plain and region.results == tuple(range(len(eqn.outvars)))
    return region.program if plain else None


def _keeps_within(eqn: Eqn, policy: Policy) -> bool:
    """True if the policy does not keep the call's results, but results of operations in it."""
    program = _inner(eqn)
    result = _device_programs(eqn) if program is None else [program]
    if not result or _keeps(eqn, policy):
        return False
    return any(_keeps(e, policy) or _keeps_within(e, policy) for p in result for e in p.eqns)


def _device_programs(eqn: Eqn) -> list[ClosedJaxpr]:
    """The programs of an equation that run on each device of a mesh: they are not inlined, but a
    policy may keep values of them."""
    if eqn.primitive.regions is None:
        return []
    interface: RegionInterface = eqn.primitive.regions(eqn.params)
    return [r.program for r in interface.regions] if interface.axes else []


def _keeps(eqn: Eqn, policy: Policy) -> bool:
    return verdict(policy, eqn) is not Recompute


def _run(program: ClosedJaxpr, args: Sequence[Any], wanted: Wanted) -> list[Any]:
    jaxpr, consts = evaluation.with_typed_constants(program.jaxpr, program.consts)
    env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts))
    env.update(zip(jaxpr.invars, args))
    inherited = get_override()
    for eqn in jaxpr.eqns:
        values = [x.val if isinstance(x, Literal) else env[x] for x in eqn.invars]
        try:
            set_override(eqn.source)
            inner = _inner(eqn) if wanted(eqn) else None
            if inner is not None:
                outs = _run(inner, values, wanted)
            else:
                outs = eqn.primitive.bind(*values, **eqn.params)
                outs = outs if eqn.primitive.multiple_results else [outs]
        finally:
            set_override(inherited)
        env.update(zip(eqn.outvars, outs))
    return [x.val if isinstance(x, Literal) else env[x] for x in jaxpr.outvars]


@dataclass(frozen=True)
class Kept:
    """A program and its kept values.

    Attributes:
        program: its loops also return, stacked, the kept values of each step; its branches those of
            all branches (zeros for those not taken); its programs per device those of each device.
        values: the kept values, each with the memory to which it is moved, or None.
        again: for such equations, by identity: the equation of the second computation, which takes
            the kept values.
    """

    program: ClosedJaxpr
    values: dict[Var, Offloadable | None] = field(default_factory=dict[Var, Offloadable | None])
    again: dict[int, Eqn] = field(default_factory=dict[int, Eqn])

    def second(self, eqn: Eqn, aliases: dict[Any, Var]) -> Eqn | None:
        """The equation of the second computation; None if all of its results are kept."""
        eqn = self.again.get(id(eqn), eqn)
        return without(eqn, self.values, aliases)

    @property
    def aliases(self) -> dict[Any, Var]:
        """Maps values to the kept results of ``name`` that are equal to them."""
        made = {v for e in self.program.eqns for v in e.outvars}
        return {
            e.invars[0]: e.outvars[0]
            for e in self.program.eqns
            if e.primitive is name_p and e.outvars[0] in self.values
            if e.invars[0] in made and e.invars[0] not in self.values
        }  # fmt: skip


def kept_of(program: ClosedJaxpr, policy: Policy) -> Kept:
    """The values that a policy keeps of a program whose calls are inlined."""
    eqns: list[Eqn] = []
    values: dict[Var, Offloadable | None] = {}
    again: dict[int, Eqn] = {}
    made: set[Var] = set()
    for eqn in program.eqns:
        made.update(eqn.outvars)
        answer = verdict(policy, eqn)
        if answer is Recompute:
            parts = _keep_in_regions(eqn, policy)
            if parts is not None:
                eqn, again[id(parts[0])], more = parts
                values |= more
        else:
            where = answer if isinstance(answer, Offloadable) else None
            # A named input is available anyway.
            if where or eqn.primitive is not name_p or eqn.invars[0] in made:
                values.update((v, where) for v in eqn.outvars)
        eqns.append(eqn)
    if again:
        program = ClosedJaxpr(program.jaxpr.replace(eqns=eqns), program.consts)
    return Kept(program, values, again)


def _keep_in_regions(
    eqn: Eqn, policy: Policy
) -> tuple[Eqn, Eqn, dict[Var, Offloadable | None]] | None:
    """A loop that returns the kept values of its steps, the loop that takes them, and the stacks;
    the same for branches and programs per device. None if nothing in the regions is kept."""
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
    """The program that also returns its kept values, and zeros for those of other branches."""
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
    """The program that takes its kept values instead of computing them, and ignores those of other
    branches."""
    jaxpr, same = kept.program.jaxpr, kept.aliases
    given = [v if k is kept else Var(v.aval) for k in among for v in k.values]
    changed = jaxpr.replace(
        invars=[*jaxpr.invars, *given],
        outvars=[same.get(x, x) for x in jaxpr.outvars],
        eqns=[e for e in (kept.second(e, same) for e in jaxpr.eqns) if e is not None],
    )
    return ClosedJaxpr(changed, kept.program.consts)
