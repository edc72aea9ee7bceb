"""Kinds of equations: two are of one kind if they differ in their operands alone."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from dovetail_core import Eqn, Literal

_aval = attrgetter("aval")


def coarse_kinds(eqns: Sequence[Eqn]) -> list[int]:
    """As :func:`kinds`, by primitives and types of results alone: a fraction of the time."""
    known: dict[Any, int] = {}
    return [known.setdefault((e.primitive, *map(_aval, e.outvars)), len(known)) for e in eqns]


def kinds(eqns: Sequence[Eqn]) -> list[int]:
    """A number for each equation, the same for those of one kind.

    An equation with an unhashable parameter is of no other's kind.
    """
    known: dict[Any, int] = {}
    result: list[int] = []
    for eqn in eqns:
        ins = [(x.aval, x.__class__ is Literal) for x in eqn.invars]
        key = (
            eqn.primitive, *ins, *map(_aval, eqn.outvars), eqn.effects,
            eqn.primitive.keys.of(eqn.params),
        )  # fmt: skip
        try:
            result.append(known.setdefault(key, len(known)))
        except TypeError:
            result.append(known.setdefault(eqn, len(known)))
    return result
