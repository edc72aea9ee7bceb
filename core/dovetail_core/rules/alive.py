"""Whether what is remembered of a function would keep that function alive, for ever."""

from __future__ import annotations

from collections.abc import Sequence
from gc import get_referents
from types import FunctionType, ModuleType
from typing import Any

from dovetail_base.keys import keeps_alive

from ..ir.programs import ClosedJaxpr, Jaxpr, programs_in

_PLAIN = {int, bool, float, str, type(None)}
MOST = 2000
"""Of so many objects; a program that refers to more is not remembered."""


def holders(program: Jaxpr | ClosedJaxpr) -> list[Any]:
    """What a program has that may refer to anything: functions, and primitives that carry rules.

    Programs remember it: where a nest is traced, each level looks at the next one alone.
    """
    if isinstance(program, ClosedJaxpr):
        return program.memo("holders", lambda: _holders(program.jaxpr))
    return _holders(program)


def _holders(jaxpr: Jaxpr) -> list[Any]:
    found: list[Any] = []
    for e in jaxpr.eqns:
        if e.primitive.anonymous:
            found.append(e.primitive)
        for v in e.params.values():
            if v.__class__ in _PLAIN:
                continue
            if keeps_alive(v):
                found.append(v)
            for p in programs_in(v):
                found += holders(p)
    return found


def keeps_only_itself(program: ClosedJaxpr) -> bool:
    """Whether remembering a program would keep alive nothing that a call has made, as functions."""
    return not holders(program)


def keeps_any(program: Jaxpr | ClosedJaxpr, functions: Sequence[Any]) -> bool:
    """Whether ``functions`` can be reached from what a program has, or that cannot be told."""
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
    """Modules and what they consist of, and programs, all of whose holders are looked at."""
    cls = x.__class__
    if cls is ModuleType or cls is Jaxpr:
        return True
    if cls is dict:
        return "__builtins__" in x and "__name__" in x
    if cls is FunctionType or isinstance(x, type):
        return "<locals>" not in x.__qualname__ and not getattr(x, "__closure__", None)
    return False
