"""Splitting a program with linear unknowns into a known part and a linear part.

For loops, residuals are shared as well: a residual that the known part computes from constants of
the loop alone is the same in each iteration. It is computed once, outside the loop, and passed to
the linear part as a constant, not as a stack. Equal operations on equal values give one residual.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import zip_longest
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
    mutable_values,
    registry,
    rewriting,
    run_under,
    stage_closed,
    typeof,
)

from .linear import LinearTrace, checked, run_linear, to_program


class Split(NamedTuple):
    """A program in two parts.

    Attributes:
        known: takes the known inputs; returns the known outputs, then residuals.
        linear: takes all residuals, then the unknown inputs; returns the unknown outputs.
        out_unknown: True for each output of the program that is unknown.
        residuals: the source of each residual of ``linear``: ``(True, i)`` is the i-th known input
            itself, ``(False, j)`` the j-th residual that ``known`` returns.
    """

    known: ClosedJaxpr
    linear: ClosedJaxpr
    out_unknown: tuple[bool, ...]
    residuals: tuple[tuple[bool, int], ...]

    @property
    def num_known_outputs(self) -> int:
        return len(self.out_unknown) - sum(self.out_unknown)

    def residual_values(self, known_inputs: Sequence[Any], returned: Sequence[Any]) -> list[Any]:
        """The residuals' values, given the known inputs and the residuals that were returned."""
        return [known_inputs[i] if direct else returned[i] for direct, i in self.residuals]

    def merge(self, known: Sequence[Any], unknown: Sequence[Any]) -> list[Any]:
        """All outputs in order."""
        k, u = iter(known), iter(unknown)
        return [next(u) if is_unknown else next(k) for is_unknown in self.out_unknown]


def split_program(
    program: ClosedJaxpr,
    unknown: tuple[bool, ...],
    force: tuple[bool, ...] | None = None,
    direct: tuple[bool, ...] | None = None,
) -> Split:
    """Split ``program`` at linear unknowns; cached with the program.

    Args:
        unknown: True for each input that is a linear unknown.
        force: True for each output that must be an output of the linear part even if it is known.
        direct: True for each input that may itself be a residual (by default all; a loop variable
            may not, because it changes in each iteration).
    """
    key = ("split", unknown, force, direct, generation.value)
    no_force = (False,) * len(program.out_avals)
    all_direct = (True,) * len(unknown)
    return program.memo(
        key, lambda: _split(program, unknown, force or no_force, direct or all_direct)
    )


def _split(
    program: ClosedJaxpr,
    unknown: tuple[bool, ...],
    force: tuple[bool, ...],
    direct: tuple[bool, ...],
) -> Split:
    avals = program.in_avals
    parts: list[Any] = []

    def known_part(*known: Any) -> list[Any]:
        values = iter(known)
        trace = LinearTrace(get_trace())
        ins = [trace.unknown(a) if u else next(values) for a, u in zip(avals, unknown)]
        outs = run_under(trace, run_linear, trace, program, *ins)
        out_unknown = tuple(trace.owns(x) or f for x, f in zip(outs, force))
        linear, residuals = to_program(
            trace,
            [x for x, u in zip(ins, unknown) if u],
            [x for x, u in zip(outs, out_unknown) if u],
        )
        usable = [d for d, u in zip(direct, unknown) if not u]
        position = {id(x): i for i, (x, d) in enumerate(zip(known, usable)) if d}
        linear, residuals = snapshot_mutable_residuals(linear, residuals, position)
        sources, returned = _residual_sources(residuals, position)
        parts[:] = [linear, out_unknown, sources]
        return [x for x, u in zip(outs, out_unknown) if not u] + returned

    known_avals = [a for a, u in zip(avals, unknown) if not u]
    known = mutable_values.discharge_local(
        stage_closed(known_part, known_avals, program.jaxpr.name)
    )
    linear, out_unknown, sources = parts
    checked(known, "splitting")
    if not known.eqns and len(linear.eqns) == len(program.eqns) and all(d for d, _ in sources):
        linear, sources = _rearranged_program(program, unknown, out_unknown)
    return Split(known, checked(linear, "splitting"), out_unknown, sources)


def snapshot_mutable_residuals(
    linear: ClosedJaxpr, residuals: Sequence[Any], known: Container[int] = ()
) -> tuple[ClosedJaxpr, list[Any]]:
    """A linear program and its residuals, with the contents of mutable residuals in their stead.

    Mutable values made in the known part do not exist any more when the linear program runs. So
    their final contents are residuals, from which the linear program makes new mutable values.

    Args:
        known: the ids of mutable residuals that stay.
    """
    replaced = [typeof(x).is_mutable and id(x) not in known for x in residuals]
    if not any(replaced):
        return linear, list(residuals)
    avals = linear.in_avals
    types = [a.content_types() if r else (a,) for a, r in zip_longest(avals, replaced)]

    def on_contents(*flat: Any) -> list[Any]:
        given = iter(flat)
        groups = [[next(given) for _ in ts] for ts in types]
        values = [a.make(xs) if r else xs[0] for a, r, xs in zip_longest(avals, replaced, groups)]
        return list(eval_jaxpr(linear.jaxpr, linear.consts, *values))

    contents = [typeof(x).read(x) if r else [x] for x, r in zip(residuals, replaced)]
    made = stage_closed(on_contents, [t for ts in types for t in ts], linear.jaxpr.name)
    return made, [x for xs in contents for x in xs]


def _rearranged_program(
    program: ClosedJaxpr, unknown: tuple[bool, ...], out_unknown: tuple[bool, ...]
) -> tuple[ClosedJaxpr, tuple[tuple[bool, int], ...]]:
    """The linear part and its residuals if there is nothing to compute in the known part.

    It is made of the program itself and not of its equal, so that results cached with the program
    and with nested ones are used again: the transpose of a linear program splits the programs
    nested in it, and so do their transposes.
    """
    jaxpr = program.jaxpr
    used = {v for e in jaxpr.eqns for v in e.invars} | set(jaxpr.outvars)
    known = [i for i, u in enumerate(unknown) if not u]
    residuals = [(True, k) for k, i in enumerate(known) if jaxpr.invars[i] in used]
    inputs = [known[k] for _, k in residuals] + [i for i, u in enumerate(unknown) if u]
    outputs = [k for k, u in enumerate(out_unknown) if u]
    return rewriting.rearrange(program, tuple(inputs), tuple(outputs)), tuple(residuals)


def _residual_sources(
    residuals: Sequence[Any], position: dict[int, int]
) -> tuple[tuple[tuple[bool, int], ...], list[Any]]:
    """The sources of residuals (see :class:`Split`), and those that the known part must return."""
    sources: list[tuple[bool, int]] = []
    returned: list[Any] = []
    for x in residuals:
        if id(x) in position:
            sources.append((True, position[id(x)]))
        else:
            sources.append((False, len(returned)))
            returned.append(x)
    return tuple(sources), returned


class Shared(NamedTuple):
    """A split that keeps fewer residuals.

    Attributes:
        split: takes the results of ``invariant`` as residuals, numbered after the known inputs.
        invariant: a closed program that takes ``consts``, then known inputs.
        consts: constants of the original program.
        used: True for each known input that ``invariant`` takes.
    """

    split: Split
    invariant: ClosedJaxpr | None = None
    consts: Sequence[Any] = ()
    used: Sequence[bool] = ()

    def values(self, known: Sequence[Any]) -> list[Any]:
        """Residuals that are the same in each iteration, computed from constants in ``known``."""
        program = self.invariant
        if program is None:
            return []
        operands = [*self.consts, *[x for x, used in zip(known, self.used) if used]]
        call = registry().provider("program_caller", default=None)
        if get_trace() is EVAL and call is not None:
            results = call(program, "invariant", operands)
            if results is not NotImplemented:
                return results
        return eval_jaxpr(program.jaxpr, program.consts, *operands)


def shared(split: Split, constant: tuple[bool, ...]) -> Shared:
    """``split`` with fewer residuals; cached with its known part.

    Args:
        constant: True for each known input that is the same in all iterations.
    """
    key = ("shared", constant, split.residuals, split.out_unknown, generation.value)
    return split.known.memo(key, lambda: _shared(split, constant))


def _shared(split: Split, constant: tuple[bool, ...]) -> Shared:
    jaxpr, n = split.known.jaxpr, split.num_known_outputs
    same = _representatives(jaxpr.eqns)
    fixed = _fixed(jaxpr, constant)
    outvars = jaxpr.outvars
    returned: dict[Any, int] = {}  # indices by representative
    invariant: dict[Any, int] = {}
    for k, v in enumerate(outvars[n:], n):
        first = same.get(v, v)
        (invariant if v in fixed else returned).setdefault(first, k)
    if len(returned) == len(outvars) - n:
        return Shared(split)
    sources = {v: (False, i) for i, v in enumerate(returned)}
    sources.update({v: (True, len(constant) + i) for i, v in enumerate(invariant)})
    residuals = [
        (direct, i) if direct else sources[same.get(outvars[n + i], outvars[n + i])]
        for direct, i in split.residuals
    ]
    known = _some_outputs(split.known, [*range(n), *returned.values()])
    linear, left = _without_repeated_inputs(split.linear, residuals)
    made = Split(known, linear, split.out_unknown, left)
    if not invariant:
        return Shared(made)
    kept = _without_effects(split.known, list(invariant.values()))
    kept, used = dce_closed(kept, (True,) * len(invariant))
    return Shared(made, consts_to_inputs(kept.jaxpr), kept.consts, used)


def _without_effects(program: ClosedJaxpr, outputs: Sequence[int]) -> ClosedJaxpr:
    """The program with some of its outputs and without equations that have effects, which stay in
    the loop; the outputs do not depend on these."""
    jaxpr = program.jaxpr
    pure = [e for e in jaxpr.eqns if not e.effects]
    outvars = [jaxpr.outvars[k] for k in outputs]
    return ClosedJaxpr(jaxpr.replace(eqns=pure, outvars=outvars), program.consts)


def _some_outputs(program: ClosedJaxpr, outputs: Sequence[int]) -> ClosedJaxpr:
    wanted = rewriting.rearrange(program, tuple(range(len(program.in_avals))), tuple(outputs))
    return checked(dce_closed(wanted, (True,) * len(outputs), True)[0], "sharing residuals")


def _representatives(eqns: Sequence[Eqn]) -> dict[Any, Any]:
    """Maps results of an equation to those of the first equation that is equal to it."""
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
    """The results of equations that depend on constants only."""
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


def _without_repeated_inputs(
    linear: ClosedJaxpr, residuals: Sequence[tuple[bool, int]]
) -> tuple[ClosedJaxpr, tuple[tuple[bool, int], ...]]:
    """The linear part with one input for equal residuals, and the sources of those inputs."""
    sources = tuple(dict.fromkeys(residuals))
    if len(sources) == len(residuals):
        return linear, tuple(residuals)
    jaxpr = linear.jaxpr
    first: dict[Any, Var] = {}
    other: dict[Any, Any] = {}
    for v, source in zip(jaxpr.invars, residuals):
        other[v] = first.setdefault(source, v)
    eqns = [_with_operands(e, [other.get(x, x) for x in e.invars]) for e in jaxpr.eqns]
    invars = [*first.values(), *jaxpr.invars[len(residuals) :]]
    outvars = [other.get(v, v) for v in jaxpr.outvars]
    made = jaxpr.replace(invars=invars, eqns=eqns, outvars=outvars)
    return checked(ClosedJaxpr(made, linear.consts), "sharing residuals"), sources


def _with_operands(eqn: Eqn, operands: list[Any]) -> Eqn:
    return eqn if operands == eqn.invars else eqn.replace(invars=operands)
