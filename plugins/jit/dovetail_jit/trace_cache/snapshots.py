"""Snapshots of values that functions use, which show later whether any of them has changed.

Constant values are held themselves and compared by identity. Objects that refer to others, and so
perhaps to the owner of the snapshot, are held by weak references: functions, classes, objects; the
parts of containers and objects are held with them, in the same way. A snapshot takes some
nanoseconds for each value.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from sys import modules
from types import (
    BuiltinFunctionType,
    FunctionType,
    GenericAlias,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType as _MEMBER,
    MethodType,
    ModuleType,
)
from typing import Any, cast
from weakref import ref

import numpy as np

from dovetail_base.caches import WeakTable
from dovetail_core import Tracer
from dovetail_xla.arrays import ArrayImpl
from dovetail_xla.execution import PjitFunction

MOST = 400
"""The most values of a snapshot; more would take longer than tracing a small function."""
BYTES = 1 << 16
"""The most bytes of a NumPy array whose elements are compared."""

_CONSTANT = {
    type(None), type(...), type(NotImplemented), bool, int, float, complex, str, bytes, range,
    slice, ModuleType, BuiltinFunctionType, GenericAlias, ArrayImpl, np.ufunc,
}  # fmt: skip
_ONE_OBJECT: Any = (np.generic, np.dtype, Enum, ModuleType)
_BY_REFERENCE = {FunctionType, PjitFunction}
_HEAP_TYPE = 1 << 9  # of a class's __flags__


class NotSnapshotable(Exception):
    """Raised for a value that can change without a snapshot showing it."""


def _mapping(x: Any) -> list[Any]:
    return [*x, *x.values()]


def _method(x: Any) -> list[Any]:
    return [x.__self__, x.__func__]


def _partial(x: Any) -> list[Any]:
    return [x.func, x.args, x.keywords]


_READERS: dict[type, Callable[[Any], list[Any]]] = {
    list: list, tuple: list, set: list, frozenset: list, deque: list, dict: _mapping,
    OrderedDict: _mapping, defaultdict: _mapping, MappingProxyType: _mapping, MethodType: _method,
    partial: _partial,
}  # fmt: skip


class Contents:
    """A container's elements at the time of a snapshot."""

    __slots__ = ("cls", "parts", "read")

    def __init__(self, cls: type, read: Callable[[Any], list[Any]], parts: list[Any]) -> None:
        self.cls, self.read, self.parts = ref(cls), read, parts

    def has(self, now: Any) -> bool:
        """Return whether ``now`` has the same elements."""
        return now.__class__ is self.cls() and same(self.read(now), self.parts)


class _Elements:
    """A small NumPy array."""

    __slots__ = ("bits", "dtype", "shape")

    def __init__(self, x: Any) -> None:
        self.dtype, self.shape, self.bits = x.dtype, x.shape, x.tobytes()

    def has(self, now: Any) -> bool:
        """Return whether ``now`` has the same elements."""
        if now.__class__ is not np.ndarray or now.dtype != self.dtype or now.shape != self.shape:
            return False
        return now.tobytes() == self.bits


class _Attributes:
    """An object and its attributes at the time of a snapshot."""

    __slots__ = ("of", "parts", "read")

    def __init__(self, x: Any, read: Callable[[Any], list[Any]]) -> None:
        self.of, self.read, self.parts = ref(x), read, list[Any]()

    def has(self, now: Any) -> bool:
        """Return whether ``now`` is the same object and has the same attributes."""
        return self.of() is now and same(self.read(now), self.parts)


def same(now: Sequence[Any], before: Sequence[Any]) -> bool:
    """Return whether values are those that :meth:`Snapshot.capture` was given, unchanged."""
    if len(now) != len(before):
        return False
    for x, y in zip(now, before):
        if x is y:
            continue
        cls = y.__class__
        if cls is ref:
            if y() is not x:
                return False
        elif cls not in _HELD or not y.has(x):
            return False
    return True


class _ById:
    """A value by its address."""

    __slots__ = ("cls", "id")

    def __init__(self, x: Any) -> None:
        self.cls, self.id = x.__class__, id(x)

    def has(self, now: Any) -> bool:
        """Return whether ``now`` is the value."""
        return now.__class__ is self.cls and id(now) == self.id


_HELD = {Contents, _Elements, _Attributes, _ById}


def _unopened(value: Any) -> Any:
    return value if value.__class__ in _CONSTANT else _ById(value)


def _is_test(x: Any) -> bool:
    """Return whether an object is a test case, whose attributes are all that its runner has: far
    more than a function that makes assertions could use."""
    unittest = modules.get("unittest")
    return unittest is not None and isinstance(x, unittest.TestCase)


class Snapshot:
    """A snapshot of values: their parts, and the functions among them."""

    __slots__ = ("_count", "_open", "_seen", "functions")

    def __init__(self) -> None:
        self.functions: dict[int, Any] = {}
        self._count = 0
        self._seen: set[int] = set()
        self._open: set[int] = set()

    def capture(self, value: Any) -> Any:
        """The snapshot of a value, with which :func:`same` compares it.

        Raises:
            NotSnapshotable: the value could change without that being noticed.
        """
        self._count += 1
        if self._count > MOST:
            raise NotSnapshotable
        cls = value.__class__
        if cls in _CONSTANT:
            return value
        if cls in _BY_REFERENCE:
            self.functions[id(value)] = value
            return ref(value)
        read = _READERS.get(cls)
        if read is not None:
            return self._container(cls, read, value)
        if isinstance(value, type):
            return ref(value)
        if isinstance(value, _ONE_OBJECT):
            return value
        if cls is np.ndarray and value.nbytes <= BYTES and not value.dtype.hasobject:
            return _Elements(value)
        return self._object(value)

    def _container(self, cls: type, read: Callable[[Any], list[Any]], value: Any) -> Any:
        if id(value) in self._open:  # it is in itself
            raise NotSnapshotable
        self._open.add(id(value))
        parts = read(value)
        held = list(map(self.capture, parts))
        self._open.discard(id(value))
        if cls is tuple and all(x is y for x, y in zip(parts, held)):
            return value
        return Contents(cls, read, held)

    def _object(self, value: Any) -> Any:
        cls = cast("Any", type(value))
        if isinstance(value, Tracer):
            raise NotSnapshotable
        read = _attributes.of(cls, partial(_reader, cls))
        if read is None or cls is not value.__class__:
            raise NotSnapshotable
        if not cls.__weakrefoffset__:
            return self._container(cls, read, value)
        if id(value) in self._seen:
            return ref(value)
        self._seen.add(id(value))
        result = _Attributes(value, read)
        capture = _unopened if _is_test(value) else self.capture
        result.parts.extend(map(capture, read(value)))
        return result


_attributes: WeakTable[Callable[[Any], list[Any]] | None] = WeakTable()


def _reader(cls: Any) -> Callable[[Any], list[Any]] | None:
    """The function that reads all parts of an instance; None if some cannot be read."""
    kinds: list[Any] = [c for c in cls.__mro__ if c is not object]
    dicts: list[Any] = [vars(c)["__dict__"] for c in kinds if "__dict__" in vars(c)]
    if not all(isinstance(d, GetSetDescriptorType) for d in dicts):
        return None
    if kinds and kinds[-1] is tuple:
        return None if dicts or not all(map(_is_made, kinds[:-1])) else _elements
    # By name, since descriptors would keep the class alive; copied, since it may get attributes.
    named: list[tuple[str, Any]] = [v for c in kinds for v in c.__dict__.copy().items()]
    members = [n for n, v in named if v.__class__ is _MEMBER]
    slots = len(members) + (cls.__dictoffset__ > 0) + (cls.__weakrefoffset__ > 0)
    hidden = cls.__basicsize__ - object.__basicsize__ - 8 * slots
    return (
        partial(_read, members, bool(dicts)) if all(map(_is_made, kinds)) and not hidden else None
    )


def _is_made(cls: Any) -> bool:
    """Return whether a class was made by a class statement, or in the same way."""
    return bool(cls.__flags__ & _HEAP_TYPE)


def _elements(x: Any) -> list[Any]:
    return [*tuple.__iter__(x)]  # pyright: ignore[reportUnknownMemberType]


def _read(members: Sequence[str], has_dict: bool, x: Any) -> list[Any]:
    result: list[Any] = [getattr(x, name, None) for name in members]  # None where not set
    if has_dict:
        attributes = x.__dict__
        result += attributes
        result += attributes.values()
    return result
