"""Tests whether tracing a function again would give the same result.

The parts of a function are compared: its code, its defaults, the values that it closes over and the
globals that it names, and the same of the functions among these; the contents of containers, plain
objects and small NumPy arrays among these. That takes microseconds, much less than tracing. If a
part can change unnoticed (a large array, a generator, an object of a C extension), there is no
answer. Modules and classes are taken to be unchanged, and so are functions that ``jit`` made, as
``jit`` itself takes them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dis import get_instructions, opmap
from itertools import compress
from types import CodeType, FunctionType
from typing import Any, Generic, NamedTuple, TypeVar, cast
from weakref import ref

from dovetail_base.caches import Cache
from dovetail_base.source import is_framework
from dovetail_xla.execution import PjitFunction

from .snapshots import NotSnapshotable, Snapshot, same

V = TypeVar("V")
KEPT = 64
"""The number of results that are remembered of functions, for arguments of other types."""


class _Parts(NamedTuple):
    """A snapshot of a function."""

    function: ref[Any]
    code: CodeType
    defaults: Sequence[Any]
    options: Sequence[Any]
    free: Sequence[bool]
    cells: Sequence[Any]
    names: Sequence[str]
    named: Sequence[Any]


class Fingerprint(NamedTuple):
    """A snapshot of functions: those that were given, and all of their parts."""

    given: Sequence[Any]
    parts: Sequence[_Parts]


class _Inspected(NamedTuple):
    """The snapshot of one function, which is kept alive so that its id stays its own."""

    function: Any
    parts: _Parts | None
    uses: dict[int, Any]


Known = dict[int, _Inspected]
"""Functions that have been inspected, by id: each level of a nest of functions uses all below."""


def fingerprint_of(functions: Sequence[Any], known: Known | None = None) -> Fingerprint | None:
    """The snapshot with which :func:`is_current` compares, or None if changes could go unnoticed.

    Args:
        known: functions that need not be inspected again; those that are inspected are added.
    """
    snapshot, result = Snapshot(), list[_Parts]()
    known = {} if known is None else known
    try:
        given = [snapshot.capture(f) for f in functions]
        for f in functions:
            if f.__class__ not in _FUNCTIONS and callable(f):
                _add_call(snapshot, f)
        todo = snapshot.functions
        ids = list(todo)
        for key in ids:  # grows
            inspected = known.get(key)
            if inspected is None:
                inspected = known[key] = _inspect(snapshot, todo[key])
            if inspected.parts is not None:
                result.append(inspected.parts)
            for other in inspected.uses:
                if other not in todo:
                    todo[other] = inspected.uses[other]
                    ids.append(other)
    except (NotSnapshotable, ValueError, RuntimeError):  # ValueError: a cell that is not bound yet
        return None
    return Fingerprint(given, result)


def _inspect(snapshot: Snapshot, f: Any) -> _Inspected:
    """The snapshot of one function. A function of the framework is taken to be unchanged, but may
    stand for a user's, and one that ``jit`` made never changes."""
    uses = snapshot.functions = dict[int, Any]()
    parts = None
    if f.__class__ is FunctionType:
        if is_framework(f.__code__, f.__globals__):
            for value in _cells(f):
                if value.__class__ in _FUNCTIONS:
                    snapshot.capture(value)
        else:
            parts = _parts(snapshot, f)
    return _Inspected(f, parts, uses)


_FUNCTIONS = (FunctionType, PjitFunction)


def _add_call(snapshot: Snapshot, f: Any) -> None:
    cls = cast("Any", type(f))
    call = getattr(cls, "__call__", None)  # noqa: B004  # as Python calls it
    if call.__class__ is FunctionType:
        snapshot.functions.setdefault(id(call), call)


def is_current(result: Fingerprint, functions: Sequence[Any]) -> bool:
    """Return whether ``functions`` are those of the snapshot, with unchanged parts."""
    if not same(functions, result.given):
        return False
    for function, code, defaults, options, free, cells, names, named in result.parts:
        f = function()
        if f is None or f.__code__ is not code:
            return False
        if (defaults or f.__defaults__) and not same(f.__defaults__ or (), defaults):
            return False
        if (options or f.__kwdefaults__) and not same(_options(f), options):
            return False
        if cells or f.__closure__:
            try:
                if not same([*compress(_cells(f), free)], cells):
                    return False
            except ValueError:
                return False
        if names:
            known = f.__globals__
            if not same([known.get(n, _REMOVED) for n in names], named):
                return False
    return True


_REMOVED = object()


class Results(Generic[V]):
    """Results of functions that are remembered until a part of the functions changes.

    Values that they change themselves while they are traced, such as a count, are no reason to
    trace them again: the snapshot is taken after that, and earlier results stay.
    """

    __slots__ = ("_by_key", "_functions")

    def __init__(self) -> None:
        self._functions: Fingerprint | None = None
        self._by_key: Cache[Any, V] = Cache(KEPT)

    def get(self, functions: Sequence[Any], key: Hashable) -> V | None:
        """The result that is remembered under ``key``, if ``functions`` have not changed."""
        if self._functions is None:
            return None
        if not is_current(self._functions, functions):
            self._functions = None
            self._by_key.clear()
            return None
        return self._by_key.get(key)

    def put(
        self, functions: Sequence[Any], key: Hashable, value: V, known: Known | None = None
    ) -> None:
        """Remember the result of tracing ``functions``, unless they can change unnoticed.

        ``known`` is that of :func:`fingerprint_of`.
        """
        self._functions = fingerprint_of(functions, known)
        if self._functions is None:
            self._by_key.clear()
        else:
            self._by_key[key] = value


def _parts(snapshot: Snapshot, f: Any) -> _Parts:
    """A function's parts, first those that most often prevent a snapshot."""
    own = _written(f.__code__)
    free = [n not in own for n in f.__code__.co_freevars]
    cells = list(map(snapshot.capture, compress(_cells(f), free)))
    defaults = list(map(snapshot.capture, f.__defaults__ or ()))
    options = list(map(snapshot.capture, _options(f)))
    names = [n for n in _names(f.__code__) if n in f.__globals__ and n not in own]
    named = [snapshot.capture(f.__globals__[n]) for n in names]
    return _Parts(ref(f), f.__code__, defaults, options, free, cells, names, named)


def _options(f: Any) -> list[Any]:
    result: dict[str, Any] = f.__kwdefaults__ or {}
    return [*result, *result.values()]


def _cells(f: Any) -> list[Any]:
    return [cell.cell_contents for cell in f.__closure__ or ()]


def _codes(code: CodeType) -> Iterable[CodeType]:
    """The code of a function, and of functions that it makes."""
    todo = [code]
    for c in todo:  # grows
        todo += [k for k in c.co_consts if k.__class__ is CodeType]
    return todo


def _names(code: CodeType) -> Iterable[str]:
    """The names that code looks up."""
    return dict.fromkeys([n for c in _codes(code) for n in c.co_names])


_STORES = {opmap["STORE_DEREF"], opmap["STORE_GLOBAL"]}


def _written(code: CodeType) -> set[str]:
    """The outer variables that code assigns itself, such as a counter."""
    return {
        i.argval
        for c in _codes(code)
        if not _STORES.isdisjoint(c.co_code[::2])
        for i in get_instructions(c)
        if i.opcode in _STORES
    }
