"""Splitting a checkpointed program into two parts by a policy or a budget."""

from __future__ import annotations

from typing import Any

from dovetail_ad import Split, split_program
from dovetail_core import (
    ClosedJaxpr,
    Jaxpr,
    dce_closed,
    eval_jaxpr,
    generation,
    rewriting,
    stage_closed,
)

from .budget.limit import Limit
from .budget.plan import listener, planned
from .effects import has_io
from .parts import Parts, Stage, forward_program
from .primitive import place_p
from .saved_values import Kept, inlined, inlined_all, inlined_where, kept_of
from .verdicts import Policy


def parts_of(
    program: ClosedJaxpr, unknown: tuple[bool, ...], policy: Policy | None, replay: bool = False
) -> Parts:
    """The two parts of ``program`` under a policy; cached with the program.

    Args:
        replay: if True, the second part has the effects of the first.
    """
    key = ("remat", unknown, policy, replay, generation.value)
    try:
        hash(policy)
    except TypeError:  # the policy cannot be part of a key
        return _make(program, unknown, policy, replay)
    result: Parts = program.memo(key, lambda: _make(program, unknown, policy, replay))
    plans = listener.get()
    if plans is not None and result.plan is not None:
        plans.append(result.plan)
    return result


def _make(
    program: ClosedJaxpr, unknown: tuple[bool, ...], policy: Policy | None, replay: bool
) -> Parts:
    split = split_program(program, unknown)
    if isinstance(policy, Limit):
        return planned(split, inlined_all(split.known), inlined_all(split.linear), policy)
    known = split.known if policy is None else inlined(split.known, policy)
    known = known if replay else inlined_where(known, has_io)
    kept_values = Kept(known) if policy is None else kept_of(known, policy)
    known, saved = kept_values.program, kept_values.values
    if not replay:
        answers = (v for e in known.eqns if has_io(e) for v in e.outvars)
        saved.update((v, None) for v in answers if v not in saved)
    if saved or not all(split.out_unknown) or program.effects:
        second = _second_part(split, kept_values, replay)
    else:  # nothing is computed now: use the program itself, with all that is cached with it
        inputs = sorted(range(len(unknown)), key=unknown.__getitem__)
        second = rewriting.rearrange(program, tuple(inputs), tuple(range(len(split.out_unknown))))
    m, num_known = len(saved), len(known.in_avals)
    keep = [False] * (m + num_known) + [True] * (len(second.in_avals) - m - num_known)
    rest, needed = dce_closed(second, [True] * len(second.out_avals), keep)
    kept = [v for v, use in zip(saved, needed) if use]
    forward = forward_program(known, kept, split.num_known_outputs)
    num_unknown = sum(unknown)
    needed = [*[True] * len(kept), *needed[m : m + num_known]]
    stage = Stage(rest, tuple(needed), tuple(range(num_unknown)))
    outs = tuple(range(num_unknown, num_unknown + len(rest.out_avals)))
    return Parts(split, forward, tuple(saved[v] for v in kept), (stage,), outs)


def _second_part(split: Split, kept: Kept, replay: bool) -> ClosedJaxpr:
    """The program from saved values, known inputs and unknowns to the unknown results."""
    known, jaxpr, saved, same = kept.program, kept.program.jaxpr, kept.values, kept.aliases
    second = [e if replay and e.effects else kept.second(e, same) for e in jaxpr.eqns]
    eqns = [e for e in second if e is not None]
    outvars = [same.get(v, v) for v in jaxpr.outvars[split.num_known_outputs :]]
    again = ClosedJaxpr(
        Jaxpr(jaxpr.constvars, [*saved, *jaxpr.invars], outvars, eqns), known.consts
    )
    m, n = len(saved), len(again.in_avals)
    unknown_avals = split.linear.in_avals[len(split.residuals) :]

    def run(*args: Any) -> list[Any]:
        values = [
            x if where is None else place_p.bind(x, src=where.dst, dst=where.src)
            for x, where in zip(args[:m], saved.values())
        ]
        returned = eval_jaxpr(again.jaxpr, again.consts, *values, *args[m:n])
        residuals = split.residual_values(args[m:n], returned)
        return eval_jaxpr(split.linear.jaxpr, split.linear.consts, *residuals, *args[n:])

    return stage_closed(run, [*again.in_avals, *unknown_avals], jaxpr.name)
