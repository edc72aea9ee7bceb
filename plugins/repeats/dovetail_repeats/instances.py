"""Instances of a run: their starts, their wiring, and the program that they have in common."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import accumulate
from math import prod
from typing import Any, NamedTuple, cast

from dovetail_core import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, programs

from .flattening import renamed
from .runs import Run

Position = tuple[int, int]
"""The index of an equation of an instance, and that of one of its results or operands."""


def last_uses(jaxpr: Jaxpr) -> dict[Any, int]:
    """The index of the last equation that uses each variable; their count if it is a result."""
    result: dict[Any, int] = {}
    for i, eqn in enumerate(jaxpr.eqns):
        for x in eqn.invars:
            if isinstance(x, Var):
                result[x] = i
    result.update((x, len(jaxpr.eqns)) for x in jaxpr.outvars if isinstance(x, Var))
    return result


class Group(NamedTuple):
    """Instances of equal wiring.

    Attributes:
        starts: the index of the first equation of each.
        length: the number of equations of each.
        results: those that are used outside of the instance.
        carried: the bytes that go from one instance to the next.
    """

    starts: list[int]
    length: int
    results: list[Position]
    carried: int

    def instances(self, eqns: Sequence[Eqn]) -> list[Sequence[Eqn]]:
        """The equations of each instance."""
        return [eqns[start : start + self.length] for start in self.starts]


def nbytes(aval: Any) -> int:
    """The bytes of a value."""
    dtype = getattr(aval, "dtype", None)
    return prod(getattr(aval, "shape", ())) * getattr(dtype, "itemsize", 1)


def groups(eqns: Sequence[Eqn], run: Run, uses: dict[Any, int]) -> list[Group]:
    """The instances of a run, in groups of equal wiring."""
    phase, carried = _phase(eqns, run, uses)
    start = run.start + phase
    by_wiring: dict[Any, list[int]] = {}
    for at in range(start, run.stop - run.period + 1, run.period):
        by_wiring.setdefault(_wiring(eqns[at : at + run.period]), []).append(at)
    result: list[Group] = []
    for starts in by_wiring.values():
        results = {r for s in starts for r in _results(eqns, s, run.period, uses)}
        result.append(Group(starts, run.period, sorted(results), carried))
    return result


def _phase(eqns: Sequence[Eqn], run: Run, uses: dict[Any, int]) -> tuple[int, int]:
    """The offset at which instances begin so that the fewest bytes go from one to the next, and the
    number of these bytes, both by the values that a period in the middle computes.

    A value that is used a period later or more does not count: it crosses a border in any case.
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
    """The origin of each operand: a result of the instance, or the index of an input."""
    inside: dict[Any, Position] = {}
    inputs: dict[Any, int] = {}
    result: list[Any] = []
    for i, eqn in enumerate(eqns):
        for x in eqn.invars:
            if isinstance(x, Var):
                result.append(inside[x] if x in inside else inputs.setdefault(x, len(inputs)))
        inside.update((v, (i, k)) for k, v in enumerate(eqn.outvars))
    return tuple(result)


def _results(eqns: Sequence[Eqn], start: int, length: int, uses: dict[Any, int]) -> list[Position]:
    """The results of an instance that are used outside of it."""
    return [
        (i, k)
        for i in range(length)
        for k, v in enumerate(eqns[start + i].outvars)
        if uses.get(v, -1) >= start + length
    ]


def inputs_of(eqns: Sequence[Eqn], varied: Collection[Position] = ()) -> dict[Var | Position, Atom]:
    """The inputs of equations, by variable or operand, in the order of the first use.

    Args:
        varied: operands that are literals, of other values in other instances.
    """
    inside: set[Any] = set()
    result: dict[Var | Position, Atom] = {}
    for i, eqn in enumerate(eqns):
        for k, x in enumerate(eqn.invars):
            if (i, k) in varied:
                result[i, k] = x
            elif isinstance(x, Var) and x not in inside:
                result[x] = x
        inside.update(eqn.outvars)
    return result


def varied_literals(instances: Sequence[Sequence[Eqn]]) -> set[Position]:
    """The operands that are literals of other values in other instances."""
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
    eqns: Sequence[Eqn], results: Sequence[Position], varied: Collection[Position]
) -> ClosedJaxpr:
    """The program of an instance, with its own variables."""
    names: dict[Any, Var] = {key: Var(x.aval) for key, x in inputs_of(eqns, varied).items()}
    invars = list(names.values())
    names.update((v, Var(v.aval)) for e in eqns for v in e.outvars)
    outs = [names[eqns[i].outvars[k]] for i, k in results]
    body: list[Eqn] = []
    for i, eqn in enumerate(eqns):
        ins = [names[i, k] if (i, k) in varied else x for k, x in enumerate(eqn.invars)]
        body.append(renamed(eqn.replace(invars=ins), names))
    return ClosedJaxpr(Jaxpr([], invars, outs, body, name="repeated"))
