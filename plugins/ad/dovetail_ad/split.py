"""Splitting a program with linear unknowns into what can be computed now and a linear rest."""

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
    """A program in two.

    Attributes:
        known: takes the known inputs; returns the known outputs, then residuals.
        linear: takes all residuals, then the unknown inputs; returns the unknown outputs.
        out_unknown: per output of the program, whether it is unknown.
        residuals: where each residual of ``linear`` comes from: ``(True, i)`` is the i-th known
            input as it is, ``(False, j)`` the j-th residual that ``known`` returns.
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
    """Split ``program`` at linear unknowns; remembered with the program.

    Args:
        unknown: per input, whether it is a linear unknown.
        force: per output, whether it must come out of the linear part even if it is known.
        direct: per input, whether its own value may serve as a residual (by default all may; a
            loop's carry may not, because it is gone after the iteration).
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
        linear, residuals = without_places(linear, residuals, position)
        places, returned = _places(residuals, position)
        parts[:] = [linear, out_unknown, places]
        return [x for x, u in zip(outs, out_unknown) if not u] + returned

    known_avals = [a for a, u in zip(avals, unknown) if not u]
    known = mutable_values.discharge_local(
        stage_closed(known_part, known_avals, program.jaxpr.name)
    )
    linear, out_unknown, places = parts
    checked(known, "splitting")
    if not known.eqns and len(linear.eqns) == len(program.eqns) and all(d for d, _ in places):
        linear, places = _itself(program, unknown, out_unknown)
    return Split(known, checked(linear, "splitting"), out_unknown, places)


def without_places(
    linear: ClosedJaxpr, residuals: Sequence[Any], known: Container[int] = ()
) -> tuple[ClosedJaxpr, list[Any]]:
    """A linear program and its residuals, where mutable ones are no longer there when it runs.

    Backward rules use them after all that is known was computed. So what they hold then is a
    residual, and the linear program begins by making others that hold it.

    Args:
        known: the ids of mutable residuals that stay.
    """
    gone = [typeof(x).is_mutable and id(x) not in known for x in residuals]
    if not any(gone):
        return linear, list(residuals)
    avals = linear.in_avals
    types = [a.content_types() if g else (a,) for a, g in zip_longest(avals, gone)]

    def on_contents(*flat: Any) -> list[Any]:
        given = iter(flat)
        groups = [[next(given) for _ in ts] for ts in types]
        values = [a.make(xs) if g else xs[0] for a, g, xs in zip_longest(avals, gone, groups)]
        return list(eval_jaxpr(linear.jaxpr, linear.consts, *values))

    held = [typeof(x).read(x) if g else [x] for x, g in zip(residuals, gone)]
    made = stage_closed(on_contents, [t for ts in types for t in ts], linear.jaxpr.name)
    return made, [x for xs in held for x in xs]


def _itself(
    program: ClosedJaxpr, unknown: tuple[bool, ...], out_unknown: tuple[bool, ...]
) -> tuple[ClosedJaxpr, tuple[tuple[bool, int], ...]]:
    """The linear part and its residuals where nothing can be computed before.

    It is the program itself, not another one that is equal: what is remembered with it, and with
    those it holds, is found again. The transpose of a linear program asks for the linear parts of
    those in it, and so do their transposes.
    """
    jaxpr = program.jaxpr
    used = {v for e in jaxpr.eqns for v in e.invars} | set(jaxpr.outvars)
    known = [i for i, u in enumerate(unknown) if not u]
    residuals = [(True, k) for k, i in enumerate(known) if jaxpr.invars[i] in used]
    inputs = [known[k] for _, k in residuals] + [i for i, u in enumerate(unknown) if u]
    outputs = [k for k, u in enumerate(out_unknown) if u]
    return rewriting.rearrange(program, tuple(inputs), tuple(outputs)), tuple(residuals)


def _places(
    residuals: Sequence[Any], position: dict[int, int]
) -> tuple[tuple[tuple[bool, int], ...], list[Any]]:
    """Where each residual comes from, and those that the known part must return."""
    places: list[tuple[bool, int]] = []
    returned: list[Any] = []
    for x in residuals:
        if id(x) in position:
            places.append((True, position[id(x)]))
        else:
            places.append((False, len(returned)))
            returned.append(x)
    return tuple(places), returned


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
        if get_trace() is EVAL and call is not None:
            results = call(program, "invariant", operands)
            if results is not NotImplemented:
                return results
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
    wanted = rewriting.rearrange(program, tuple(range(len(program.in_avals))), tuple(outputs))
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
