"""What one instance computes for another is computed there again where that is cheap.

XLA does the same where it fuses operations: of the many values that go from the pass forward to the
one back, few are kept in memory. Calls are borders to its fusions, so it is done here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dovetail_core import Eqn, Jaxpr, Literal, Var
from dovetail_remat import cost_rules

from .flattening import renamed
from .instances import Group, Place, nbytes

_SMALL = 8
"""A value that is so many times smaller than what is computed from it is kept for that."""
_LONGEST = 24
"""How many equations at most are repeated for one value."""


class Recipe(NamedTuple):
    """How to compute a value again: its instance's start, and the equations that do."""

    start: int
    steps: list[int]


def sunk(jaxpr: Jaxpr, found: Sequence[Group]) -> Jaxpr:
    """The program with equations repeated in the instances that use what they compute."""
    starts: dict[int, int] = {}  # of each equation of an instance: that one's start
    recipes: dict[Any, Recipe] = {}
    for group in found:
        cheap = _cheap_results(group.instances(jaxpr.eqns)[0], group.results)
        for start in group.starts:
            starts.update((start + i, start) for i in range(group.length))
            for (i, k), steps in cheap.items():
                value = jaxpr.eqns[start + i].outvars[k]
                recipes[value] = Recipe(start, [start + s for s in steps])
    return jaxpr.replace(eqns=_repeated(jaxpr.eqns, starts, recipes)) if recipes else jaxpr


def _repeated(eqns: Sequence[Eqn], starts: dict[int, int], recipes: dict[Any, Recipe]) -> list[Eqn]:
    """The equations, with those of recipes before the first of each instance that needs them."""
    made: list[Eqn] = []
    names: dict[Any, Var] = {}  # in the instance that is being written
    here: int | None = None
    for at, eqn in enumerate(eqns):
        start = starts.get(at)
        if start != here:
            here, names = start, {}
            for step in [] if start is None else _wanted(eqns, start, starts, recipes):
                names.update((v, Var(v.aval)) for v in eqns[step].outvars)
                made.append(renamed(eqns[step], names))
        made.append(renamed(eqn, names))
    return made


def _wanted(
    eqns: Sequence[Eqn], start: int, starts: dict[int, int], recipes: dict[Any, Recipe]
) -> list[int]:
    """The equations to repeat in the instance that begins at ``start``."""
    steps: set[int] = set()
    at = start
    while starts.get(at) == start:
        for x in eqns[at].invars:
            recipe = recipes.get(x) if isinstance(x, Var) else None
            if recipe is not None and recipe.start != start:
                steps.update(recipe.steps)
        at += 1
    return sorted(steps)


def _cheap_results(eqns: Sequence[Eqn], results: Sequence[Place]) -> dict[Place, list[int]]:
    """The results that are cheap to compute from others and from inputs, and by which equations."""
    where = {v: (i, k) for i, e in enumerate(eqns) for k, v in enumerate(e.outvars)}
    kept = set(results)
    known: dict[Place, frozenset[int]] = {}
    for i, eqn in enumerate(eqns):
        steps = _steps(i, eqn, where, kept, known)
        if steps is not None and len(steps) <= _LONGEST:
            known[i, 0] = steps
    return {r: sorted(known[r]) for r in results if r in known}


def _steps(
    i: int,
    eqn: Eqn,
    where: dict[Var, Place],
    kept: set[Place],
    known: dict[Place, frozenset[int]],
) -> frozenset[int] | None:
    """The equations by which a result is computed from what is kept; None if it is not cheap."""
    if not is_cheap(eqn):
        return None
    steps = frozenset((i,))
    for x in eqn.invars:
        place = None if isinstance(x, Literal) else where.get(x)
        if place is None:
            continue  # a literal, or an input of the instance
        if place in known:
            steps |= known[place]
        elif place not in kept and nbytes(x.aval) * _SMALL > nbytes(eqn.outvars[0].aval):
            return None
    return steps


def is_cheap(eqn: Eqn) -> bool:
    """Whether an equation only moves elements, or does arithmetic on each."""
    primitive = eqn.primitive
    if primitive.regions is not None or eqn.effects or len(eqn.outvars) != 1:
        return False
    traits = primitive.traits
    if (traits.elementwise and traits.exact == "numbers") or (traits.moves and len(eqn.invars) < 2):
        return True
    ins, outs = [x.aval for x in eqn.invars], [v.aval for v in eqn.outvars]
    return not cost_rules[primitive](ins, outs, **eqn.params)
