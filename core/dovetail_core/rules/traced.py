"""Functions that have been traced within the one that is being traced now, so that each is once.

Where each level of a nest of functions uses the next one twice, levels would else be traced twice
as often one by one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextvars import ContextVar, Token
from operator import is_
from types import FunctionType
from typing import Any, NamedTuple

from ..dispatch.axes import axis_env
from ..dispatch.tracer import Tracer
from ..types.avals import typeof
from ..xla.config import trace_context


class _Found(NamedTuple):
    """What came of tracing a function, which is kept alive so that its id stays its own."""

    function: Any
    closure: list[Any]
    consts: Sequence[Any]
    result: Any


_Traced = dict[Any, _Found] | None
_traced: ContextVar[_Traced] = ContextVar("dovetail_traced_functions", default=None)


def begin() -> Token[_Traced] | None:
    """The tracing of a function begins; tell :func:`end` what this returns."""
    return _traced.set({}) if _traced.get() is None else None


def end(begun: Token[_Traced] | None) -> None:
    """It is over, and so is what is remembered, if no other function is being traced around it."""
    if begun is not None:
        _traced.reset(begun)


def recall(f: Any, key: Hashable) -> Any:
    """What :func:`keep` was given, if ``f`` closes over the same objects now; else None."""
    traced = _traced.get()
    if not traced or f.__class__ is not FunctionType:
        return None
    found = traced.get((id(f), key, trace_context(), axis_env()))
    if found is None or not all(map(_lasts, found.consts)):
        return None
    closure = _closure(f)
    same = len(closure) == len(found.closure) and all(map(is_, closure, found.closure))
    return found.result if same else None


def keep(f: Any, key: Hashable, consts: Sequence[Any], result: Any) -> None:
    """Remember the result of tracing ``f``, whose program closes over the values ``consts``."""
    traced = _traced.get()
    if traced is not None and f.__class__ is FunctionType:
        found = _Found(f, _closure(f), consts, result)
        traced[id(f), key, trace_context(), axis_env()] = found


def _closure(f: Any) -> list[Any]:
    """What a function closes over, and what the functions do that it closes over."""
    found: list[Any] = []
    todo, seen = [f], {id(f)}
    while todo:
        for cell in todo.pop().__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:  # it is not bound yet
                value = cell
            found.append(value)
            if value.__class__ is FunctionType and id(value) not in seen:
                seen.add(id(value))
                todo.append(value)
    return found


def _lasts(x: Any) -> bool:
    """Whether what a function closed over when it was traced can be closed over now."""
    return not (x._trace.ended if isinstance(x, Tracer) else typeof(x).has_mutable_type)
