"""What functions close over, directly or by way of objects."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from gc import get_referents
from types import FunctionType, MethodType, ModuleType
from typing import Any

from dovetail_core import Tracer

MOST = 2000
"""So many objects are looked at; beyond, a function may close over anything."""


def reachable(f: Any, wanted: Mapping[int, int]) -> set[int]:
    """The numbers of those objects, given by their ids, that a function closes over."""
    result: set[int] = set()
    todo, seen = [f], set[int]()
    while todo and len(result) < len(wanted):
        x = todo.pop()
        if id(x) in seen:
            continue
        if len(seen) >= MOST:
            return set(wanted.values())
        seen.add(id(x))
        if id(x) in wanted:
            result.add(wanted[id(x)])
        else:
            todo += _within(x)
    return result


def _within(x: Any) -> list[Any]:
    if isinstance(x, FunctionType):
        return [*(x.__closure__ or ()), *(x.__defaults__ or ()), x.__kwdefaults__]
    if isinstance(x, MethodType):
        return [x.__self__, x.__func__]
    if isinstance(x, partial):
        return [x.func, x.args, x.keywords]
    if isinstance(x, (type, ModuleType, Tracer)):
        return []
    return get_referents(x)
