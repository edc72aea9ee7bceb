"""Splitting a program with linear unknowns into what can be computed now and a linear rest."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from dovetail_core import (
    ClosedJaxpr,
    eval_jaxpr,
    generation,
    get_trace,
    run_under,
    stage_closed,
    typeof,
)
from dovetail_core.interpret.mutable import without_own_mutable
from dovetail_core.ir.rewriting import rearranged

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
    known = without_own_mutable(stage_closed(known_part, known_avals, program.jaxpr.name))
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
    return rearranged(program, tuple(inputs), tuple(outputs)), tuple(residuals)


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
