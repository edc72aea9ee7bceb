"""Instances of a run: where they begin, which are wired alike, and the program that they share."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from dovetail_core import ClosedJaxpr, Eqn, Jaxpr, Literal, Var

from .runs import Run


class Uses:
    """Where the variables of a program are defined and used for the last time."""

    def __init__(self, jaxpr: Jaxpr) -> None:
        self.defined: dict[Any, int] = {}
        self.last: dict[Any, int] = {}
        for i, eqn in enumerate(jaxpr.eqns):
            for x in eqn.invars:
                if isinstance(x, Var):
                    self.last[x] = i
            for v in eqn.outvars:
                self.defined[v] = i
        for x in jaxpr.outvars:
            if isinstance(x, Var):
                self.last[x] = len(jaxpr.eqns)


class Group(NamedTuple):
    """Instances of one wiring.

    Attributes:
        starts: the number of the first equation of each.
        length: how many equations each has.
        results: which results, as pairs (equation of the instance, result of it), are used outside.
    """

    starts: list[int]
    length: int
    results: list[tuple[int, int]]


def nbytes(aval: Any) -> int:
    """The bytes of a value."""
    dtype = getattr(aval, "dtype", None)
    return prod(getattr(aval, "shape", ())) * getattr(dtype, "itemsize", 1)


def groups(eqns: Sequence[Eqn], run: Run, uses: Uses) -> list[Group]:
    """The instances of a run that are wired alike, group by group."""
    start = run.start + _phase(eqns, run, uses)
    by_wiring: dict[Any, list[int]] = {}
    for at in range(start, run.stop - run.period + 1, run.period):
        by_wiring.setdefault(_wiring(eqns[at : at + run.period]), []).append(at)
    found: list[Group] = []
    for starts in by_wiring.values():
        if len(starts) > 1:
            results = sorted({r for s in starts for r in _results(eqns, s, run.period, uses)})
            found.append(Group(starts, run.period, results))
    return found


def _phase(eqns: Sequence[Eqn], run: Run, uses: Uses) -> int:
    """Where in the period instances begin so that the fewest bytes go from one to the next."""
    period = run.period
    bytes_at = [0] * period
    for at in range(run.start, run.stop - period):
        for v in eqns[at].outvars:
            last = uses.last.get(v, at)
            if 0 < last - at < period:
                for boundary in range(at + 1, last + 1):
                    bytes_at[(boundary - run.start) % period] += nbytes(v.aval)
    spare = (run.stop - run.start) % period
    return min(range(period), key=lambda k: (bytes_at[k], k > spare, k))


def _wiring(eqns: Sequence[Eqn]) -> tuple[Any, ...]:
    """Where each operand comes from: a result of the instance, or which of its inputs."""
    inside: dict[Any, tuple[int, int]] = {}
    inputs: dict[Any, int] = {}
    found: list[Any] = []
    for i, eqn in enumerate(eqns):
        for x in eqn.invars:
            if isinstance(x, Literal):
                continue
            found.append(inside[x] if x in inside else inputs.setdefault(x, len(inputs)))
        for k, v in enumerate(eqn.outvars):
            inside[v] = (i, k)
    return tuple(found)


def _results(
    eqns: Sequence[Eqn], start: int, length: int, uses: Uses
) -> list[tuple[int, int]]:
    """Which results of an instance are used outside of it."""
    return [
        (i, k)
        for i in range(length)
        for k, v in enumerate(eqns[start + i].outvars)
        if uses.last.get(v, -1) >= start + length
    ]


def inputs_of(eqns: Sequence[Eqn]) -> list[Var]:
    """The variables that equations take from elsewhere, in the order of their first use."""
    inside: set[Any] = set()
    found: dict[Var, None] = {}
    for eqn in eqns:
        for x in eqn.invars:
            if isinstance(x, Var) and x not in inside:
                found[x] = None
        inside.update(eqn.outvars)
    return list(found)


def shared_program(eqns: Sequence[Eqn], results: Sequence[tuple[int, int]]) -> ClosedJaxpr:
    """The program of an instance, with variables of its own."""
    outer = inputs_of(eqns)
    names: dict[Any, Var] = {v: Var(v.aval) for v in outer}
    names.update((v, Var(v.aval)) for e in eqns for v in e.outvars)
    body = [
        e.replace(
            invars=[names[x] if isinstance(x, Var) else x for x in e.invars],
            outvars=[names[v] for v in e.outvars],
        )
        for e in eqns
    ]
    outs = [names[eqns[i].outvars[k]] for i, k in results]
    return ClosedJaxpr(Jaxpr([], [names[v] for v in outer], outs, body, name="repeated"))
