"""The remembered results of tracing functions, so that each is traced once.

If each of several nested functions used the next one twice, every level would be traced twice as
often as the one before. Within a trace a function is the same as long as it closes over the same
objects, also tracers. Beyond that, the result of tracing a function without tracers is remembered
with it, and used again if no part of it has changed (see ``fingerprints``).
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from contextvars import ContextVar
from operator import is_
from threading import local
from types import FunctionType
from typing import Any, NamedTuple

from dovetail_base.caches import WeakTable
from dovetail_base.options import check_tracer_leaks, disable_jit
from dovetail_base.source import get_scope, here, without_names
from dovetail_base.wrapping import callable_name
from dovetail_core import EVAL, Tracer, axis_names, get_trace, stage, typeof
from dovetail_xla.config import trace_context

from .fingerprints import Known, Results
from .retention import retains_closures


class _Result(NamedTuple):
    """The result of tracing a function, which is kept alive so that its id stays its own."""

    function: Any
    closure: list[Any]
    consts: Sequence[Any]
    result: Any


FEW = 20
"""The number of nested traces up to which they are not the cause of a full stack."""

_Traced = dict[Any, Any] | None
_traced: ContextVar[_Traced] = ContextVar("dovetail_traced_functions", default=None)


class tracing:  # lower case: used as a function
    """Context manager for tracing a function: results of tracing within it are remembered until the
    outermost one ends.

    Raises:
        RecursionError: functions are traced within each other to a depth that Python's stack does
            not hold; names the depth and the remedy.
    """

    __slots__ = ("_is_outermost",)

    def __enter__(self) -> None:
        # Outside of every trace, an interrupt has left the entries that are there.
        self._is_outermost = _traced.get() is None or get_trace() is EVAL
        if self._is_outermost:
            _traced.set({})

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if self._is_outermost:
            _traced.set(None)
            # jaxlib's functions turn an error into a SystemError that it caused.
            if isinstance(error, (RecursionError, SystemError)):
                cause = error.__cause__ or error
                if isinstance(cause, RecursionError):
                    _explain(error)


def _explain(error: BaseException) -> None:
    """Raise a clearer error if functions that are traced within each other filled the stack."""
    depth, at = 0, error.__traceback__
    while at is not None:
        depth, at = depth + (at.tb_frame.f_code is stage.__code__), at.tb_next
    if depth < FEW:
        return
    limit = sys.getrecursionlimit()
    raise RecursionError(
        f"{depth} functions are being traced within each other{here()}, for which Python's stack, "
        f"limited to {limit} frames, is too small. Raise the limit, "
        f"sys.setrecursionlimit({10 * limit}), or nest less deeply: a recursive function, say, is "
        "a loop over what its levels differ in."
    ) from error


def alias(f: Any, of: Any, how: Hashable) -> None:
    """Note that the library made ``f`` of ``of``, as it does for each call: results of ``f`` are
    remembered with that function, under ``how`` it was made."""
    f.__name__ = callable_name(of)
    f.aliased = of, how


_LOOKED = "looked"
"""The key, among the results within a trace, of the snapshots of functions."""
_lasting: WeakTable[Results[Any]] = WeakTable()
"""The results of tracing functions that close over no tracers."""

bypass = local()
"""``wanted`` is true while this thread must not use results from before the outermost trace:
attributes of modules and classes may have changed since."""


def get(f: Any, key: Hashable) -> Any:
    """The result that :func:`put` was given, if ``f`` has the same parts now; else None."""
    f, key = _key(f, key)
    traced = _traced.get()
    if traced and f.__class__ is FunctionType:
        results: _Result | None = traced.get((id(f), key))
        if results is not None and all(map(_lasts, results.consts)):
            closure = _closure(f)
            if len(closure) == len(results.closure) and all(map(is_, closure, results.closure)):
                return results.result
    if check_tracer_leaks.value or disable_jit.value or getattr(bypass, "wanted", False):
        return None
    mine = _lasting.known(f)
    return None if mine is None else mine.get((f,), key)


def put(f: Any, key: Hashable, consts: Sequence[Any], program: Any, result: Any) -> None:
    """Remember the result of tracing ``f`` to a program that closes over the values ``consts``.

    (Not while leaks are looked for, since remembered results hold tracers.)
    """
    if check_tracer_leaks.value:
        return
    f, key = _key(f, key)
    traced = _traced.get()
    if traced is not None and f.__class__ is FunctionType:
        traced[id(f), key] = _Result(f, _closure(f), consts, result)
    if disable_jit.value or any(isinstance(c, Tracer) or not _lasts(c) for c in consts):
        return
    if retains_closures(program, (f,)):
        return
    try:
        mine = _lasting.of(f, Results)
    except TypeError:  # it cannot be referred to weakly
        return
    known: Known = {} if traced is None else traced.setdefault(_LOOKED, {})
    known.pop(id(f), None)  # its own trace may have changed it
    mine.put((f,), key, result, known)


def _key(f: Any, key: Hashable) -> tuple[Any, Hashable]:
    """The function whose results are remembered, and the key among them."""
    full_key = key, trace_context(), axis_names.axes_key(), without_names(get_scope())
    behind = getattr(f, "aliased", None) if f.__class__ is FunctionType else None
    return (f, full_key) if behind is None else (behind[0], (behind[1], full_key))


def _closure(f: Any) -> list[Any]:
    """The values that a function closes over, and those that its inner functions close over."""
    result: list[Any] = []
    todo, seen = [f], {id(f)}
    while todo:
        for cell in todo.pop().__closure__ or ():
            try:
                value = cell.cell_contents
            except ValueError:  # it is not bound yet
                value = cell
            result.append(value)
            if value.__class__ is FunctionType and id(value) not in seen:
                seen.add(id(value))
                todo.append(value)
    return result


def _lasts(x: Any) -> bool:
    """Return whether a value that a traced function closed over can still be used."""
    value: Any = x
    return not (value._trace.ended if isinstance(x, Tracer) else typeof(x).has_mutable_type)
