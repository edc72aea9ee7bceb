"""Recomputation of cheap values in the instances that use them.

XLA does the same when it fuses operations: of the many values that go from the forward pass to the
backward pass, few are kept in memory. It does not fuse across calls, so it is done here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

from dovetail_core import Eqn, Jaxpr, Literal, Var
from dovetail_cost import cost_rules

from .flattening import renamed
from .instances import Group, Position, nbytes

_SMALL = 8
"""A value that is so many times smaller than those computed from it is kept for them."""
_LONGEST = 24
"""The largest number of equations that are repeated for one value."""


class Recipe(NamedTuple):
    """The equations that compute a value again, and the start of the instance that computes it."""

    start: int
    steps: list[int]


def sunk(
    jaxpr: Jaxpr, kinds: Sequence[int], result: Sequence[Group]
) -> tuple[Jaxpr, Sequence[int]]:
    """The program with equations repeated in the instances, and between them, that use their
    results; and the kinds of its equations."""
    borders = {0, len(jaxpr.eqns)}
    recipes: dict[Any, Recipe] = {}
    for group in result:
        cheap = _cheap_results(group.instances(jaxpr.eqns)[0], group.results)
        for start in group.starts:
            borders |= {start, start + group.length}
            for (i, k), steps in cheap.items():
                value = jaxpr.eqns[start + i].outvars[k]
                recipes[value] = Recipe(start, [start + s for s in steps])
    if not recipes:
        return jaxpr, kinds
    made, origins = _repeated(jaxpr.eqns, sorted(borders), recipes)
    return jaxpr.replace(eqns=made), [kinds[i] for i in origins]


def _repeated(
    eqns: Sequence[Eqn], borders: Sequence[int], recipes: dict[Any, Recipe]
) -> tuple[list[Eqn], list[int]]:
    """The equations, with those of recipes after the border before their use, and the index of the
    original of each."""
    made: list[Eqn] = []
    origins: list[int] = []
    for start, stop in pairwise(borders):
        names: dict[Any, Var] = {}
        steps = _wanted(eqns[start:stop], start, recipes)
        for step in steps:
            names.update((v, Var(v.aval)) for v in eqns[step].outvars)
            made.append(renamed(eqns[step], names))
        made += [renamed(eqn, names) for eqn in eqns[start:stop]]
        origins += [*steps, *range(start, stop)]
    return made, origins


def _wanted(eqns: Sequence[Eqn], start: int, recipes: dict[Any, Recipe]) -> list[int]:
    """The equations to repeat for those that begin at ``start``."""
    steps: set[int] = set()
    for x in chain.from_iterable([eqn.invars for eqn in eqns]):
        recipe = recipes.get(x)
        if recipe is not None and recipe.start != start:
            steps.update(recipe.steps)
    return sorted(steps)


def _cheap_results(eqns: Sequence[Eqn], results: Sequence[Position]) -> dict[Position, list[int]]:
    """The results that are cheap to compute from others and from inputs, with the equations."""
    where = {v: (i, k) for i, e in enumerate(eqns) for k, v in enumerate(e.outvars)}
    kept = set(results)
    known: dict[Position, frozenset[int]] = {}
    for i, eqn in enumerate(eqns):
        steps = _steps(i, eqn, where, kept, known)
        if steps is not None and len(steps) <= _LONGEST:
            known[i, 0] = steps
    return {r: sorted(known[r]) for r in results if r in known}


def _steps(
    i: int,
    eqn: Eqn,
    where: dict[Var, Position],
    kept: set[Position],
    known: dict[Position, frozenset[int]],
) -> frozenset[int] | None:
    """The equations that compute a result from values that are kept; None if that is not cheap."""
    if not is_cheap(eqn):
        return None
    steps = frozenset((i,))
    for x in eqn.invars:
        position = None if isinstance(x, Literal) else where.get(x)
        if position is None:
            continue  # a literal, or an input of the instance
        if position in known:
            steps |= known[position]
        elif position not in kept and nbytes(x.aval) * _SMALL > nbytes(eqn.outvars[0].aval):
            return None
    return steps


def is_cheap(eqn: Eqn) -> bool:
    """Tell whether an equation only moves elements, or does arithmetic on each."""
    primitive = eqn.primitive
    if primitive.regions is not None or eqn.effects or len(eqn.outvars) != 1:
        return False
    traits = primitive.traits
    if (traits.elementwise and traits.exact == "numbers") or (traits.moves and len(eqn.invars) < 2):
        return True
    ins, outs = [x.aval for x in eqn.invars], [v.aval for v in eqn.outvars]
    return not cost_rules[primitive](ins, outs, **eqn.params)
