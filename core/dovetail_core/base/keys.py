"""Keys of dictionaries that tell values apart by type and bits, where ``==`` does not.

To Python ``1``, ``1.0`` and ``True`` are one key, so are ``0.0`` and ``-0.0``, and ``nan`` is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from marshal import dumps
from struct import pack
from typing import Any, cast

import numpy as np

_sure: set[type] = {str, bytes, type(None), type(...), type}  # equal ones of these are the same
_MARSHAL = 2  # the last version whose bytes do not depend on which objects are one


def exact_key(value: Any) -> Any:
    """A value as a key: numbers, also inside tuples, count with type and bits.

    Values of other types count as they compare; of what is unhashable the key is, too.
    """
    cls = value.__class__
    if cls in _sure:
        return value
    if issubclass(cls, tuple):
        return cls, tuple(map(exact_key, value))
    if cls is float or cls is complex:
        return cls, pack("dd", value.real, value.imag)
    if issubclass(cls, frozenset):
        return cls, frozenset(map(exact_key, value))
    if issubclass(cls, np.generic):
        return value.dtype, value.tobytes()
    if issubclass(cls, (np.dtype, Enum)) and not issubclass(cls, int):
        _sure.add(cast("type", cls))
        return value
    return cls, value


class ParameterKeys:
    """Makes the keys of one primitive's parameters, a walk through whose values would cost more
    than all else at the tracing of an operation.

    ``marshal`` writes Python's own numbers, strings and tuples by type and bits, three times as
    quickly. Parameters of other types, such as dtypes, stand beside what it writes; which these
    are is learnt. A look-up is ``entries[keys.of(params)]``, with ``dumps(params, 2)`` for
    ``keys.of(params)`` while ``plain``, and may raise ValueError where nothing is found; what is
    stored is stored under :meth:`new`.
    """

    __slots__ = ("plain", "_apart", "_exact")

    def __init__(self) -> None:
        self.plain = True
        self._apart: tuple[str, ...] = ()
        self._exact = False

    def of(self, params: dict[str, Any]) -> Any:
        """The key to look up."""
        if self._exact:
            return tuple([(k, exact_key(v)) for k, v in params.items()])
        if not self._apart:
            return dumps(params, _MARSHAL)
        rest = params.copy()
        value = rest.pop(self._apart[0], None)
        if value.__class__ not in _sure:
            value = _other_key(value)
        if len(self._apart) == 1:
            return value, dumps(rest, _MARSHAL)
        others = [_other_key(rest.pop(name, None)) for name in self._apart[1:]]
        return value, *others, dumps(rest, _MARSHAL)

    def new(self, params: dict[str, Any]) -> Any:
        """The key to store something under."""
        if not self._exact and _has_buffers(params.values()):
            self._exact, self.plain = True, False  # marshal writes their bytes, not their type
        try:
            return self.of(params)
        except ValueError:
            others = [k for k, v in params.items() if k not in self._apart and not _is_plain(v)]
            self._apart, self.plain = (*self._apart, *others), False
        return self.of(params)


def _is_plain(value: Any) -> bool:
    try:
        dumps(value, _MARSHAL)
    except ValueError:
        return False
    return True


def _other_key(value: Any) -> Any:
    cls = value.__class__
    if cls in _sure:
        return value
    if issubclass(cls, tuple):
        plain = tuple(value)  # of a named tuple
        return (cls, dumps(plain, _MARSHAL)) if _is_plain(plain) else exact_key(value)
    return exact_key(value)


def _has_buffers(values: Iterable[Any]) -> bool:
    for value in values:
        if isinstance(value, (tuple, list, set, frozenset)):
            if _has_buffers(cast("Iterable[Any]", value)):
                return True
        elif isinstance(value, dict):
            if _has_buffers(cast("dict[Any, Any]", value).values()):
                return True
        else:
            try:
                memoryview(value)
            except TypeError:
                continue
            return True
    return False
