"""Search for tracers that outlive their trace, and for the objects that hold them.

At the end of a transformation nothing should hold its tracers: they are no arrays, and any later
use of one fails, often far from its cause. With the option ``check_tracer_leaks`` the
transformation itself raises an error at its end, which names the tracer's type, the line that made
it, and its holder. This module is the provider ``leak_checker``.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any

from dovetail_base.errors import UnexpectedTracerError
from dovetail_base.source import describe
from dovetail_core import Trace, Tracer, leaks

Step = tuple[str, object]
"""The description of an object's holder, and the holder itself if it has no name of its own."""
_CONTAINERS = (list, tuple, set, frozenset)
_DEPTH = 5
"""The depth of containers within containers that are searched."""


Leaks = dict[int, Trace]
"""Traces that have ended and are alive, by id; kept so that no other trace gets such an id."""


def begin() -> Leaks:
    """The traces that have ended and are alive at present."""
    return _over({})


def end(before: Leaks) -> None:
    """Raise UnexpectedTracerError if tracers of further ended traces are alive.

    A tracer holds its trace. So nothing is searched if all traces that have ended are dead, and all
    objects are searched only if some are alive that are not garbage.
    """
    for generation in (1, 2):  # the traces are young: most garbage that holds them is, too
        if not _over(before):
            return
        gc.collect(generation)
    alive = _over(before)
    if not alive:
        return
    result = _tracers_of(alive)
    if result:
        raise UnexpectedTracerError(_report(result))
    leaks.watch_traces().difference_update(alive.values())


def _tracers_of(traces: Leaks) -> list[Tracer[Any]]:
    tracers: list[Any] = [x for x in gc.get_objects() if isinstance(x, Tracer)]
    return [x for x in tracers if id(x._trace) in traces]


def _over(before: Leaks) -> Leaks:
    """The traces that have ended and are alive, without those in ``before``."""
    alive = [*leaks.watch_traces()]
    return {id(t): t for t in alive if t.ended and id(t) not in before}


def _report(result: list[Tracer[Any]]) -> str:
    first = result[0]
    others = f", and so are {len(result) - 1} others" if len(result) > 1 else ""
    return (
        f"{first!r}{describe(first.origin())} is kept after its end: it is "
        f"{_kept(first, [result])}{others}. Return the value from the function, or keep what it is "
        "computed from (option check_tracer_leaks)."
    )


def _kept(x: object, ours: list[Any]) -> str:
    """A description of the holders of ``x``, up to a name that the user gave."""
    steps: list[str] = []
    for _ in range(_DEPTH):
        step, x = _holder(x, ours)
        if step:
            steps.append(step)
        if x is None:
            break
    return ", ".join(steps) or "held by an object that cannot be named"


def _holder(x: object, ours: list[Any]) -> Step:
    holders = gc.get_referrers(x)
    ours.append(holders)
    candidates = [h for h in holders if not _is_ours(h, ours)]
    for check_results in (_in_named, _in_container):
        for holder in candidates:
            result = check_results(x, holder)
            if result is not None:
                return result
    return "", None


def _is_ours(holder: object, ours: Iterable[Any]) -> bool:
    return isinstance(holder, FrameType) or any(holder is o for o in ours) or holder is ours


def _in_named(x: object, holder: Any) -> Step | None:
    kind: type[Any] = holder.__class__
    if kind is dict:
        return _in_namespace(x, holder)
    if kind is CellType:
        return _in_closure(holder)
    if issubclass(kind, _CONTAINERS) or kind.__module__ == __name__:
        return None
    name = _key_of(x, _attributes(holder))
    return None if name is None else (f"attribute {name!r} of {_named(holder)}", None)


def _in_namespace(x: object, names: dict[Any, Any]) -> Step | None:
    key = _key_of(x, names)
    for owner in gc.get_referrers(names):
        if getattr(owner, "__dict__", None) is names:
            if isinstance(owner, ModuleType):
                return f"global variable {key!r} of module {owner.__name__!r}", None
            return f"attribute {key!r} of {_named(owner)}", None
    module = names.get("__name__")
    if isinstance(module, str) and getattr(sys.modules.get(module), "__dict__", None) is names:
        return f"global variable {key!r} of module {module!r}", None
    return None


def _in_closure(cell: CellType) -> Step:
    holders: list[Any] = gc.get_referrers(cell)
    for cells in holders:
        for owner in gc.get_referrers(cells) if cells.__class__ is tuple else ():
            if isinstance(owner, FunctionType) and owner.__closure__ is cells:
                name = owner.__code__.co_freevars[[c is cell for c in cells].index(True)]
                return f"variable {name!r} that {owner.__qualname__} closes over", None
    return "a variable of a function that an inner one closes over", None


def _in_container(x: object, holder: Any) -> Step | None:
    kind: type[Any] = holder.__class__
    if kind is dict:
        return f"under key {_key_of(x, holder)!r} of a dict", holder
    if issubclass(kind, (list, tuple)):
        at = next(i for i, v in enumerate(holder) if v is x)
        return f"item {at} of a {kind.__name__}", holder
    if issubclass(kind, _CONTAINERS):
        return f"in a {kind.__name__}", holder
    return None


def _attributes(x: object) -> dict[str, Any]:
    slots = [n for c in x.__class__.__mro__ for n in getattr(c, "__slots__", ())]
    result: dict[str, Any] = {n: getattr(x, n, None) for n in slots if n != "__weakref__"}
    return {**result, **getattr(x, "__dict__", {})}


def _key_of(x: object, names: dict[Any, Any]) -> Any:
    return next((k for k, v in names.items() if v is x), None)


def _named(x: object) -> str:
    cls = x if isinstance(x, type) else x.__class__
    return f"{'class' if cls is x else 'an object of class'} {cls.__qualname__}"
