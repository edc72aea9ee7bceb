"""Instances of a run: where they begin, which are wired alike, and the program that they share."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate
from math import prod
from typing import Any, NamedTuple, cast

from dovetail_core import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, programs

from .flattening import renamed
from .runs import Run

Place = tuple[int, int]
"""An equation of an instance, and which of its results or operands."""


def last_uses(jaxpr: Jaxpr) -> dict[Any, int]:
    """The number of the last equation that uses each variable, their count if it is a result."""
    result: dict[Any, int] = {}
    for i, eqn in enumerate(jaxpr.eqns):
        for x in eqn.invars:
            if isinstance(x, Var):
                result[x] = i
    result.update((x, len(jaxpr.eqns)) for x in jaxpr.outvars if isinstance(x, Var))
    return result


class Group(NamedTuple):
    """Instances of one wiring.

    Attributes:
        starts: the number of the first equation of each.
        length: how many equations each has.
        results: which results are used outside.
        handed_on: bytes that go from one instance to the next.
    """

    starts: list[int]
    length: int
    results: list[Place]
    handed_on: int

    def instances(self, eqns: Sequence[Eqn]) -> list[Sequence[Eqn]]:
        """The equations of each."""
        return [eqns[start : start + self.length] for start in self.starts]


def nbytes(aval: Any) -> int:
    """The bytes of a value."""
    dtype = getattr(aval, "dtype", None)
    return prod(getattr(aval, "shape", ())) * getattr(dtype, "itemsize", 1)


def groups(eqns: Sequence[Eqn], run: Run, uses: dict[Any, int]) -> list[Group]:
    """The instances of a run that are wired alike, group by group."""
    phase, handed_on = _phase(eqns, run, uses)
    start = run.start + phase
    by_wiring: dict[Any, list[int]] = {}
    for at in range(start, run.stop - run.period + 1, run.period):
        by_wiring.setdefault(_wiring(eqns[at : at + run.period]), []).append(at)
    result: list[Group] = []
    for starts in by_wiring.values():
        results = {r for s in starts for r in _results(eqns, s, run.period, uses)}
        result.append(Group(starts, run.period, sorted(results), handed_on))
    return result


def _phase(eqns: Sequence[Eqn], run: Run, uses: dict[Any, int]) -> tuple[int, int]:
    """Where in the period instances begin so that the fewest bytes go from one to the next, and
    how many these are, by what a period in the middle computes.

    What is used a period later or more counts for none, as it crosses a border in any case.
    """
    period = run.period
    first = run.start + run.saved // period // 2 * period
    changes = [0] * (2 * period + 1)  # of the bytes that cross a border, from one to the next
    for at in range(first, first + period):
        for v in eqns[at].outvars:
            length = uses.get(v, at) - at
            if 0 < length < period:
                size = nbytes(v.aval)
                changes[at + 1 - first] += size
                changes[at + 1 - first + length] -= size
    crossing = list(accumulate(changes))
    bytes_at = [crossing[k] + crossing[k + period] for k in range(period)]
    spare = (run.stop - run.start) % period  # where they begin later there is one less
    phase = min(range(period), key=lambda k: (bytes_at[k], k > spare, k))
    return phase, bytes_at[phase]


def _wiring(eqns: Sequence[Eqn]) -> tuple[Any, ...]:
    """Where each operand comes from: a result of the instance, or which of its inputs."""
    inside: dict[Any, Place] = {}
    inputs: dict[Any, int] = {}
    result: list[Any] = []
    for i, eqn in enumerate(eqns):
        for x in eqn.invars:
            if isinstance(x, Var):
                result.append(inside[x] if x in inside else inputs.setdefault(x, len(inputs)))
        inside.update((v, (i, k)) for k, v in enumerate(eqn.outvars))
    return tuple(result)


def _results(eqns: Sequence[Eqn], start: int, length: int, uses: dict[Any, int]) -> list[Place]:
    """Which results of an instance are used outside of it."""
    return [
        (i, k)
        for i in range(length)
        for k, v in enumerate(eqns[start + i].outvars)
        if uses.get(v, -1) >= start + length
    ]


def inputs_of(eqns: Sequence[Eqn], varied: Collection[Place] = ()) -> dict[Var | Place, Atom]:
    """What equations take from elsewhere, by variable or operand, in the order of the first use.

    Args:
        varied: the operands of equations that are literals, but others in other instances.
    """
    inside: set[Any] = set()
    result: dict[Var | Place, Atom] = {}
    for i, eqn in enumerate(eqns):
        for k, x in enumerate(eqn.invars):
            if (i, k) in varied:
                result[i, k] = x
            elif isinstance(x, Var) and x not in inside:
                result[x] = x
        inside.update(eqn.outvars)
    return result


def varied_literals(instances: Sequence[Sequence[Eqn]]) -> set[Place]:
    """The operands of equations that are literals which differ among instances."""
    first, *others = instances
    return {
        (i, k)
        for i, eqn in enumerate(first)
        for k, x in enumerate(eqn.invars)
        if isinstance(x, Literal)
        and not all(
            programs.equal_literals(x, cast("Literal", other[i].invars[k])) for other in others
        )
    }


def shared_program(
    eqns: Sequence[Eqn], results: Sequence[Place], varied: Collection[Place]
) -> ClosedJaxpr:
    """The program of an instance, with variables of its own."""
    names: dict[Any, Var] = {key: Var(x.aval) for key, x in inputs_of(eqns, varied).items()}
    invars = list(names.values())
    names.update((v, Var(v.aval)) for e in eqns for v in e.outvars)
    outs = [names[eqns[i].outvars[k]] for i, k in results]
    body: list[Eqn] = []
    for i, eqn in enumerate(eqns):
        ins = [names[i, k] if (i, k) in varied else x for k, x in enumerate(eqn.invars)]
        body.append(renamed(eqn.replace(invars=ins), names))
    return ClosedJaxpr(Jaxpr([], invars, outs, body, name="repeated"))
