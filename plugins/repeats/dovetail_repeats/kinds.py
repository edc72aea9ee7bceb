"""Kinds of equations: two are of one kind if they differ in their operands alone."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from dovetail_core import Eqn, Literal
from dovetail_core.base.keys import exact_key
from dovetail_core.ir.programs import same_param

_aval = attrgetter("aval")


def coarse_kinds(eqns: Sequence[Eqn]) -> list[int]:
    """As :func:`kinds`, by primitives and types of results alone: a tenth of the time."""
    known: dict[Any, int] = {}
    return [known.setdefault((e.primitive, *[v.aval for v in e.outvars]), len(known)) for e in eqns]


def kinds(eqns: Sequence[Eqn]) -> list[int]:
    """A number for each equation, the same for those of one kind."""
    known: dict[Any, list[tuple[Eqn, int]]] = {}
    found: list[int] = []
    count = 0
    for eqn in eqns:
        alike = known.setdefault(_key(eqn), [])
        number = next((n for e, n in alike if _is_same(e, eqn)), None)
        if number is None:
            number = count
            count += 1
            alike.append((eqn, number))
        found.append(number)
    return found


def _key(eqn: Eqn) -> Any:
    """What is quickly compared: equations of one kind have one key."""
    types = tuple([x.aval for x in eqn.invars]), tuple([v.aval for v in eqn.outvars])
    try:
        params = tuple([exact_key(v) for v in eqn.params.values()])
        hash(params)
    except TypeError:  # unhashable: they are compared
        params = None
    return eqn.primitive, types, params


def _is_same(a: Eqn, b: Eqn) -> bool:
    """Whether two equations with one key are of one kind."""
    if a.effects != b.effects or a.params.keys() != b.params.keys():
        return False
    if any(isinstance(x, Literal) != isinstance(y, Literal) for x, y in zip(a.invars, b.invars)):
        return False
    return all(same_param(v, b.params[k]) for k, v in a.params.items())
