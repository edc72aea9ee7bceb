"""Keys of static arguments, which compare by type and bits, as C++ does not.

C++ compares them by their type and ``==``, and their items by ``==`` alone: ``(1,)`` would be
``(True,)`` to it, and ``0.0`` be ``-0.0``. Values that equal others in this way are replaced by
keys. The items of tuples are listed and typed in C, since large trees are passed as tuples.

Most of those trees hold no numbers, and to find that out takes longer than all else done for a
static argument. So a function's tuples are passed as they are until :func:`compares_exactly`
refuses one. C++ then repeats a call only where it was stored for an equal tuple, and nothing is
stored for a tuple that does not compare exactly and was passed as it is (:func:`any_inexact`)."""

from __future__ import annotations

from collections.abc import Iterable
from marshal import dumps
from math import isnan
from types import BuiltinFunctionType, FunctionType
from typing import Any, cast

import numpy as np

from dovetail_base.keys import exact_key
from dovetail_base.options import disable_jit
from dovetail_tree.util import PyTreeDef, tuples

EXACT_TYPES: frozenset[type] = frozenset({
    int, str, bytes, type(None), FunctionType, BuiltinFunctionType, PyTreeDef,
})  # fmt: skip
"""Types whose values equal none of other types among these, inside of tuples, too."""

_NUMBERS = (bool, float, complex, np.generic)
"""Types of which values in a collection equal values of other types."""

_OTHERS = (*_NUMBERS, tuple, frozenset)
_SURE = EXACT_TYPES - {int}
_all_sure = _SURE.issuperset
_WRITTEN = EXACT_TYPES | {bool, float}
_all_written = _WRITTEN.issuperset
_leaves_of = tuples.flatten
_by_identity = object.__eq__


_all_harmless = frozenset({int, bool, str, bytes, type(None)}).issuperset
_KEPT = 256
_known: dict[int, tuple[tuple[Any, ...], Any]] = {}
"""Tuples of a few numbers and names by identity, with their keys: the constants of a function are
the same objects at each call. The tuples are kept, so that no other object gets their identity."""


class _Exact:
    """The key of a static argument for C++, compared by type and bits."""

    __slots__ = ("value", "key")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.key = exact_key(value)

    def __eq__(self, other: object) -> bool:
        return other.__class__ is _Exact and self.key == other.key  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self.key)


class _Typed(tuple[Any, ...]):
    """The key of a tuple: itself, the types of all its leaves, and the bits of floats.

    As a tuple it is hashed and compared in C.
    """

    __slots__ = ()


_STAND_INS = (_Exact, _Typed)


def static_key(value: Any) -> Any:
    """Return the value that C++ gets for a static argument: itself, or its key."""
    if value.__class__ is not tuple:
        return _exact(value) if _has_equal(value) else value
    if (result := _known.get(id(value))) is not None and not disable_jit.value:
        return result[1]
    leaves = _leaves_of(value)[0]
    types = tuple(map(type, leaves))
    if _all_sure(types):
        return value
    if not _all_written(types):
        if _all_exact(types):
            return value
        if any(issubclass(t, _OTHERS) for t in {*types} - _WRITTEN) and _has_equal_in(leaves):
            return _exact(value)
    if float not in types:
        stand_in = _typed(value, types)
        if _all_harmless(types) and stand_in.__class__ is _Typed:
            if len(_known) >= _KEPT:
                _known.clear()
            _known[id(value)] = value, stand_in
        return stand_in
    reals = [x for x in leaves if x.__class__ is float]
    if isnan(sum(reals)):  # of which no two are equal
        return _exact(value)
    return _typed(value, types, dumps(reals, 2))


def compares_exactly(value: tuple[Any, ...]) -> bool:
    """Tell whether a tuple holds no numbers, nor objects that may say themselves what equals
    them."""
    types = tuple(map(type, _leaves_of(value)[0]))
    return _all_sure(types) or _all_exact(types)


def any_inexact(statics: Iterable[Any]) -> bool:
    """Tell whether C++ was given a tuple as it was that does not compare exactly."""
    return any(x.__class__ is tuple and not compares_exactly(x) for x in statics)


def _all_exact(types: Iterable[type]) -> bool:
    return all(t in _SURE or t.__eq__ is _by_identity for t in {*types})


def value_of(given: Any) -> Any:
    """The static argument that its caller gave, from what C++ was given."""
    cls = given.__class__
    if cls not in _STAND_INS:
        return given
    return given.value if cls is _Exact else given[0]


def _typed(*parts: Any) -> Any:
    return parts[0] if disable_jit.value else _Typed(parts)


def _exact(value: Any) -> Any:
    return value if disable_jit.value else _Exact(value)  # then C++ calls the function itself


def _has_equal(value: Any) -> bool:
    """Tell whether C++ would take another value for this one, or not this one for itself
    (``nan``)."""
    cls = type(value)
    if issubclass(cls, (tuple, frozenset)):
        return _has_equal_in(cast("Iterable[Any]", value))
    if issubclass(cls, (float, complex, np.generic)):
        return bool(value == 0) or bool(value != value)
    return False


def _has_equal_in(collection: Iterable[Any]) -> bool:
    result = [*collection]
    for x in result:  # grows
        cls = x.__class__
        if cls in EXACT_TYPES:
            continue
        if issubclass(cls, (tuple, frozenset)):
            result += x
        elif issubclass(cls, _NUMBERS):
            return True
    return False
