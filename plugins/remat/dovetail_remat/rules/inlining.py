"""Inlining calls in a checkpointed program, so that a policy sees the operations inside of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_ad import jvp_rules
from dovetail_base.source import get_override, set_override
from dovetail_core import (
    ClosedJaxpr,
    Eqn,
    Literal,
    RegionInterface,
    Var,
    evaluation,
    stage_closed,
)

from ..primitive import remat_p
from ..verdicts import Policy, Recompute, verdict

Wanted = Callable[[Eqn], bool]


def inlined(program: ClosedJaxpr, policy: Policy) -> ClosedJaxpr:
    """The program with calls replaced by their operations where the policy keeps one of those.

    Values inside of branches cannot be kept alone: the policy decides on those whole.
    """
    return inlined_where(program, lambda e: _keeps_within(e, policy))


def inlined_all(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program with all calls replaced by their operations, checkpointed calls excepted."""
    return inlined_where(program, lambda e: e.primitive is not remat_p)


def inlined_where(program: ClosedJaxpr, wanted: Wanted) -> ClosedJaxpr:
    """The program with those calls replaced by their operations that are ``wanted``."""
    if not any(_inner(e) is not None and wanted(e) for e in program.eqns):
        return program
    return stage_closed(
        lambda *args: _run(program, args, wanted), program.in_avals, program.jaxpr.name
    )


def _inner(eqn: Eqn) -> ClosedJaxpr | None:
    """The program of an equation that does nothing but call it."""
    if eqn.primitive.regions is None or eqn.primitive.anonymous:
        return None  # an anonymous primitive carries rules of its own
    if jvp_rules.declares(eqn.primitive):
        return None  # inlining it would lose a derivative of its own
    interface: RegionInterface = eqn.primitive.regions(eqn.params)
    if len(interface.regions) != 1 or interface.is_loop or interface.control is not None:
        return None
    if interface.axes:
        return None  # it runs on each device, on parts
    region = interface.regions[0]
    plain = region.operands == tuple(range(len(eqn.invars)))
    plain = plain and region.results == tuple(range(len(eqn.outvars)))
    return region.program if plain else None


def _keeps_within(eqn: Eqn, policy: Policy) -> bool:
    """Whether the policy does not keep the call's results, but those of something inside."""
    program = _inner(eqn)
    result = _run_elsewhere(eqn) if program is None else [program]
    if not result or _keeps(eqn, policy):
        return False
    return any(_keeps(e, policy) or _keeps_within(e, policy) for p in result for e in p.eqns)


def _run_elsewhere(eqn: Eqn) -> list[ClosedJaxpr]:
    """The programs of which a policy keeps values although they are not inlined: those that run
    on each device of a mesh."""
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
