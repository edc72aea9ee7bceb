"""Tests whether a remembered program would keep functions of the user alive, for ever."""

from __future__ import annotations

from collections.abc import Sequence
from gc import get_referents
from types import FunctionType, ModuleType
from typing import Any

from dovetail_base.keys import keeps_alive
from dovetail_core import ClosedJaxpr, Jaxpr, programs

_PLAIN = {int, bool, float, str, type(None)}
MOST = 2000
"""The number of objects that are searched; a program that refers to more is not remembered."""


def holders(program: Jaxpr | ClosedJaxpr) -> list[Any]:
    """The objects of a program that may refer to any others: functions, and primitives with rules.

    Programs remember them: when nested functions are traced, each level reads the next one alone.
    """
    if isinstance(program, ClosedJaxpr):
        return program.memo("holders", lambda: _holders(program.jaxpr))
    return _holders(program)


def _holders(jaxpr: Jaxpr) -> list[Any]:
    result: list[Any] = []
    for e in jaxpr.eqns:
        if e.primitive.anonymous:
            result.append(e.primitive)
        for v in e.params.values():
            if v.__class__ in _PLAIN:
                continue
            if keeps_alive(v):
                result.append(v)
            for p in programs.subprograms(v):
                result += holders(p)
    return result


def is_self_contained(program: ClosedJaxpr) -> bool:
    """Return whether a remembered program keeps no objects alive that a call made (functions)."""
    return not holders(program)


def retains_closures(program: Jaxpr | ClosedJaxpr, functions: Sequence[Any]) -> bool:
    """Return whether ``functions`` can be reached from a program; True if that is not known."""
    todo = holders(program)
    if not todo:
        return False
    sought, seen = set(map(id, functions)), set(map(id, todo))
    for x in todo:  # grows
        if id(x) in sought or len(seen) > MOST:
            return True
        for y in get_referents(x):
            if id(y) not in seen and not _lives_anyway(y):
                seen.add(id(y))
                todo.append(y)
    return False


def _lives_anyway(x: Any) -> bool:
    """Return whether an object need not be searched: a module, an object that belongs to one, or a
    program, all of whose holders are searched."""
    cls = x.__class__
    if cls is ModuleType or cls is Jaxpr:
        return True
    if cls is dict:
        return "__builtins__" in x and "__name__" in x
    if cls is FunctionType or isinstance(x, type):
        return "<locals>" not in x.__qualname__ and not getattr(x, "__closure__", None)
    return False
