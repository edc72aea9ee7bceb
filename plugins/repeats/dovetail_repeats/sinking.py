"""What one instance computes for another is computed there again where that is cheap.

XLA does the same where it fuses operations: in place of many values that go from the pass forward
to the one back, few are kept in memory. A call is a border for its fusions, so this is done here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import Eqn, Jaxpr, Literal, Var
from dovetail_remat import cost_rules

from .instances import Group, nbytes

_SMALL = 8
"""A value that is so many times smaller than what is computed from it is kept for that."""
_LONGEST = 24
"""How many equations at most are repeated for one value."""

Place = tuple[int, int]
"""An equation of an instance, and which of its results."""


def sunk(jaxpr: Jaxpr, found: Sequence[Group]) -> Jaxpr:
    """The program with equations repeated in the instances that use what they compute."""
    borders: dict[int, int] = {}  # of each equation of an instance: that one's first
    recipes: dict[Any, tuple[int, list[int]]] = {}
    for group in found:
        template = jaxpr.eqns[group.starts[0] : group.starts[0] + group.length]
        cheap = _recipes(template, group.results)
        for start in group.starts:
            borders.update((start + i, start) for i in range(group.length))
            for (i, k), steps in cheap.items():
                recipes[jaxpr.eqns[start + i].outvars[k]] = start, [start + s for s in steps]
    if not recipes:
        return jaxpr
    return jaxpr.replace(eqns=_repeated(jaxpr.eqns, borders, recipes))


def _repeated(
    eqns: Sequence[Eqn], borders: dict[int, int], recipes: dict[Any, tuple[int, list[int]]]
) -> list[Eqn]:
    """The equations, with those of recipes before the first of each instance that needs them."""
    made: list[Eqn] = []
    names: dict[Any, Var] = {}  # in the instance that is being written
    here: int | None = None
    for at, eqn in enumerate(eqns):
        border = borders.get(at)
        if border != here:
            here, names = border, {}
            if border is not None:
                wanted = _wanted(eqns, border, borders, recipes)
                for step in wanted:
                    made.append(_renamed(eqns[step], names, define=True))
        made.append(_renamed(eqn, names) if names else eqn)
    return made


def _wanted(
    eqns: Sequence[Eqn], start: int, borders: dict[int, int], recipes: Any
) -> list[int]:
    """The numbers of the equations to repeat in the instance that begins at ``start``."""
    steps: set[int] = set()
    at = start
    while borders.get(at) == start:
        for x in eqns[at].invars:
            found = recipes.get(x) if isinstance(x, Var) else None
            if found is not None and found[0] != start:
                steps.update(found[1])
        at += 1
    return sorted(steps)


def _renamed(eqn: Eqn, names: dict[Any, Var], define: bool = False) -> Eqn:
    invars = [names.get(x, x) for x in eqn.invars]
    if not define:
        return eqn if invars == eqn.invars else eqn.replace(invars=invars)
    for v in eqn.outvars:
        names[v] = Var(v.aval)
    return eqn.replace(invars=invars, outvars=[names[v] for v in eqn.outvars])


def _recipes(eqns: Sequence[Eqn], results: Sequence[Place]) -> dict[Place, list[int]]:
    """The results that are cheap to compute from others and from inputs, and by which equations."""
    where: dict[Any, Place] = {v: (i, k) for i, e in enumerate(eqns) for k, v in enumerate(e.outvars)}
    wanted = set(results)
    known: dict[Place, frozenset[int]] = {}
    for i, eqn in enumerate(eqns):
        steps = _steps(i, eqn, where, wanted, known)
        if steps is not None and len(steps) <= _LONGEST:
            known[i, 0] = steps
    return {r: sorted(known[r]) for r in results if r in known}


def _steps(
    i: int, eqn: Eqn, where: dict[Any, Place], wanted: set[Place], known: dict[Place, frozenset[int]]
) -> frozenset[int] | None:
    """The equations by which a result is computed from what is there; None if it is not cheap."""
    if not is_cheap(eqn):
        return None
    steps: frozenset[int] = frozenset((i,))
    for x in eqn.invars:
        place = None if isinstance(x, Literal) else where.get(x)
        if place is None:
            continue  # a literal, or an input of the instance
        if place in known:
            steps |= known[place]
        elif place not in wanted and nbytes(x.aval) * _SMALL > nbytes(eqn.outvars[0].aval):
            return None
    return steps


def is_cheap(eqn: Eqn) -> bool:
    """Whether an equation only moves elements, or does arithmetic on each."""
    primitive = eqn.primitive
    if primitive.regions is not None or eqn.effects or len(eqn.outvars) != 1:
        return False
    if primitive.traits.elementwise and primitive.traits.exact:
        return True
    ins, outs = [x.aval for x in eqn.invars], [v.aval for v in eqn.outvars]
    return not cost_rules[primitive](ins, outs, **eqn.params)
