"""Residuals of a loop that every iteration would keep alike, and those that are there twice.

What the known part of a loop computes of its constants alone is the same in each iteration: it is
computed once, beside the loop, and the linear part takes it as a constant and not as a stack. Of
equal operations on equal values one residual is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dovetail_base.keys import exact_key
from dovetail_core import (
    EVAL,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Var,
    consts_to_inputs,
    dce_closed,
    eval_jaxpr,
    generation,
    get_trace,
    registry,
)
from dovetail_core.ir.rewriting import rearranged
from dovetail_core.rules.alive import keeps_only_itself

from .linear import checked
from .split import Split


class Shared(NamedTuple):
    """A split that keeps fewer residuals.

    Attributes:
        split: it takes what ``invariant`` returns behind its known inputs, as they are.
        invariant: a program without constants of its own: these come first among its inputs.
        consts: its constants.
        used: per known input, whether it takes it.
    """

    split: Split
    invariant: ClosedJaxpr | None = None
    consts: Sequence[Any] = ()
    used: Sequence[bool] = ()

    def values(self, known: Sequence[Any]) -> list[Any]:
        """What is the same in each iteration; only constants among ``known`` are looked at."""
        program = self.invariant
        if program is None:
            return []
        operands = [*self.consts, *[x for x, used in zip(known, self.used) if used]]
        call = registry().provider("program_caller", default=None)
        if get_trace() is EVAL and call is not None and keeps_only_itself(program):
            return call(program, "invariant", operands)
        return eval_jaxpr(program.jaxpr, program.consts, *operands)


def shared(split: Split, constant: tuple[bool, ...]) -> Shared:
    """``split`` with fewer residuals; remembered with its known part.

    Args:
        constant: per known input, whether it is the same whenever the region runs.
    """
    key = ("shared", constant, split.residuals, split.out_unknown, generation.value)
    return split.known.memo(key, lambda: _shared(split, constant))


def _shared(split: Split, constant: tuple[bool, ...]) -> Shared:
    jaxpr, n = split.known.jaxpr, split.num_known_outputs
    same = _representatives(jaxpr.eqns)
    fixed = _fixed(jaxpr, constant)
    outvars = jaxpr.outvars
    returned: dict[Any, int] = {}  # places by representative
    invariant: dict[Any, int] = {}
    for k, v in enumerate(outvars[n:], n):
        first = same.get(v, v)
        (invariant if v in fixed else returned).setdefault(first, k)
    if len(returned) == len(outvars) - n:
        return Shared(split)
    at = {v: i for i, v in enumerate(returned)}
    beside = {v: len(constant) + i for i, v in enumerate(invariant)}
    residuals = [
        (direct, i) if direct else _place(same.get(outvars[n + i], outvars[n + i]), at, beside)
        for direct, i in split.residuals
    ]
    known = _some_outputs(split.known, [*range(n), *returned.values()])
    linear, left = _taken_once(split.linear, residuals)
    made = Split(known, linear, split.out_unknown, left)
    if not invariant:
        return Shared(made)
    kept = _without_effects(split.known, list(invariant.values()))
    kept, used = dce_closed(kept, (True,) * len(invariant))
    return Shared(made, consts_to_inputs(kept.jaxpr), kept.consts, used)


def _without_effects(program: ClosedJaxpr, outputs: Sequence[int]) -> ClosedJaxpr:
    """The program with some outputs, without what has an effect, on which they do not depend: that
    happens in the loop."""
    jaxpr = program.jaxpr
    pure = [e for e in jaxpr.eqns if not e.effects]
    outvars = [jaxpr.outvars[k] for k in outputs]
    return ClosedJaxpr(jaxpr.replace(eqns=pure, outvars=outvars), program.consts)


def _place(v: Any, at: dict[Any, int], beside: dict[Any, int]) -> tuple[bool, int]:
    return (False, at[v]) if v in at else (True, beside[v])


def _some_outputs(program: ClosedJaxpr, outputs: Sequence[int]) -> ClosedJaxpr:
    wanted = rearranged(program, tuple(range(len(program.in_avals))), tuple(outputs))
    return checked(dce_closed(wanted, (True,) * len(outputs), True)[0], "sharing residuals")


def _representatives(eqns: Sequence[Eqn]) -> dict[Any, Any]:
    """For results of an operation that was there before with equal operands: those of the first."""
    same: dict[Any, Any] = {}
    seen: dict[Any, Eqn] = {}
    for eqn in eqns:
        if eqn.effects or eqn.primitive.regions is not None or eqn.primitive.stateful:
            continue
        operands = tuple([_name(same.get(x, x)) for x in eqn.invars])
        try:
            key = eqn.primitive, operands, tuple([(k, exact_key(v)) for k, v in eqn.params.items()])
            first = seen.setdefault(key, eqn)
        except TypeError:  # a parameter without a hash
            continue
        if first is not eqn:
            same.update(zip(eqn.outvars, first.outvars))
    return same


def _name(x: Any) -> Any:
    return (exact_key(x.val), x.aval) if x.__class__ is Literal else x


def _fixed(jaxpr: Jaxpr, constant: Sequence[bool]) -> set[Any]:
    """The results of operations that see constants alone."""
    known: set[Any] = {v for v, c in zip(jaxpr.invars, constant) if c and not v.aval.is_mutable}
    known.update(jaxpr.constvars)
    result: set[Any] = set()
    for eqn in jaxpr.eqns:
        if eqn.effects or eqn.primitive.stateful:
            continue
        if all(x.__class__ is Literal or x in known for x in eqn.invars):
            known.update(eqn.outvars)
            result.update(eqn.outvars)
    return result


def _taken_once(
    linear: ClosedJaxpr, residuals: Sequence[tuple[bool, int]]
) -> tuple[ClosedJaxpr, tuple[tuple[bool, int], ...]]:
    """The linear part with one input for equal residuals, and these."""
    places = list(dict.fromkeys(residuals))
    if len(places) == len(residuals):
        return linear, tuple(residuals)
    jaxpr = linear.jaxpr
    first: dict[Any, Var] = {}
    other: dict[Any, Any] = {}
    for v, place in zip(jaxpr.invars, residuals):
        other[v] = first.setdefault(place, v)
    eqns = [_with_operands(e, [other.get(x, x) for x in e.invars]) for e in jaxpr.eqns]
    invars = [*first.values(), *jaxpr.invars[len(residuals) :]]
    outvars = [other.get(v, v) for v in jaxpr.outvars]
    made = jaxpr.replace(invars=invars, eqns=eqns, outvars=outvars)
    return checked(ClosedJaxpr(made, linear.consts), "sharing residuals"), tuple(places)


def _with_operands(eqn: Eqn, operands: list[Any]) -> Eqn:
    return eqn if operands == eqn.invars else eqn.replace(invars=operands)
