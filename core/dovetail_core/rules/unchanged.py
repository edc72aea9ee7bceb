"""Whether tracing a function again would find what it found before.

What a function is made of can be looked at: its code, its defaults, what it closes over and which
globals it names, and the same of the functions among these. Where all of it is constant, looking
takes a microsecond, much less than tracing. Where something can change unseen (a list, an object
with attributes), or cannot be looked at, no answer is given. Modules and classes are taken as they
are, and so is what ``jit`` made, as by ``jit`` itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from types import BuiltinFunctionType, CodeType, FunctionType, GenericAlias, ModuleType
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from ..base.source import is_framework
from ..xla.arrays import ArrayImpl
from ..xla.calls import PjitFunction

MOST = 100
"""Of so many values; more would take longer to look at than a small function takes to trace."""

_CONSTANT = {
    type(None), type(...), bool, int, float, complex, str, bytes, range, slice, ModuleType,
    BuiltinFunctionType, GenericAlias, ArrayImpl, np.ufunc,
}  # fmt: skip
_BY_REFERENCE = (FunctionType, PjitFunction)
"""Held weakly: a function may refer to itself, or to what refers to it."""


class _Parts(NamedTuple):
    """A function, as it was: weakly what is a function, the other values themselves."""

    function: ref[Any]
    code: CodeType
    defaults: Sequence[Any]
    options: dict[str, Any]
    cells: Sequence[Any]
    named: Sequence[tuple[str, Any]]


Functions = tuple[_Parts, ...]


def look_at(functions: Sequence[Any]) -> Functions | None:
    """What :func:`unchanged` compares with, or None where that could not tell."""
    todo: list[Any] = []
    for f in functions:
        if f.__class__ is FunctionType:
            todo.append(f)
        elif f.__class__ is not PjitFunction:  # the function of which never changes
            return None
    found: list[_Parts] = []
    count, seen = 0, set(map(id, todo))
    for f in todo:  # grows
        values: list[Any] = []
        try:
            values = [*(f.__defaults__ or ()), *_options(f).values()]
            values += _cells(f)
        except ValueError:  # a cell that is not bound yet
            return None
        named = [(n, f.__globals__[n]) for n in _names(f.__code__) if n in f.__globals__]
        values += [v for _, v in named]
        count += len(values)
        if count > MOST or not all(map(_is_constant, values)):
            return None
        for v in values:
            if v.__class__ is FunctionType and id(v) not in seen and _is_users(v):
                seen.add(id(v))
                todo.append(v)
        found.append(_parts(f, named))
    return tuple(found)


def unchanged(functions: Functions) -> bool:
    """Whether all of it is as it was."""
    for function, code, defaults, options, cells, named in functions:
        f = function()
        if f is None or f.__code__ is not code:
            return False
        if not _same(f.__defaults__ or (), defaults):
            return False
        if (options or f.__kwdefaults__) and not _same_options(_options(f), options):
            return False
        if cells or f.__closure__:
            try:
                if not _same(_cells(f), cells):
                    return False
            except ValueError:
                return False
        known = f.__globals__
        for name, value in named:
            now = known.get(name, _GONE)
            if now is not value and not (value.__class__ is ref and value() is now):
                return False
    return True


_GONE = object()


def _parts(f: Any, named: Iterable[tuple[str, Any]]) -> _Parts:
    return _Parts(
        ref(f), f.__code__,
        [_held(v) for v in f.__defaults__ or ()],
        {k: _held(v) for k, v in _options(f).items()},
        [_held(v) for v in _cells(f)],
        [(n, _held(v)) for n, v in named],
    )  # fmt: skip


def _options(f: Any) -> dict[str, Any]:
    return f.__kwdefaults__ or {}


def _held(value: Any) -> Any:
    return ref(value) if isinstance(value, _BY_REFERENCE) else value


def _same(now: Sequence[Any], before: Sequence[Any]) -> bool:
    if len(now) != len(before):
        return False
    for x, y in zip(now, before):
        if x is not y and not (y.__class__ is ref and y() is x):
            return False
    return True


def _same_options(now: dict[str, Any], before: dict[str, Any]) -> bool:
    return now.keys() == before.keys() and _same([now[k] for k in before], [*before.values()])


def _cells(f: Any) -> list[Any]:
    return [cell.cell_contents for cell in f.__closure__ or ()]


def _names(code: CodeType) -> Iterable[str]:
    """The names that code looks up, and that of functions which it makes."""
    todo, found = [code], dict[str, None]()
    for c in todo:  # grows
        found.update(dict.fromkeys(c.co_names))
        todo += [k for k in c.co_consts if k.__class__ is CodeType]
    return found


def _is_constant(value: Any) -> bool:
    """Whether a value can be told from others by which object it is, and does not change."""
    cls = value.__class__
    if cls in _CONSTANT or cls in _BY_REFERENCE:
        return True
    if cls is tuple or cls is frozenset:
        return all(x.__class__ not in _BY_REFERENCE and _is_constant(x) for x in value)
    return isinstance(value, (type, np.generic, np.dtype, Enum))


def _is_users(f: Any) -> bool:
    """Whether a function may change: those of libraries are taken as they are."""
    return not is_framework(f.__code__, f.__globals__)
