"""Keys of dictionaries that tell values apart by type and bits, where ``==`` does not.

To Python ``1``, ``1.0`` and ``True`` are one key, so are ``0.0`` and ``-0.0``, and ``nan`` is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from marshal import dumps
from operator import itemgetter
from struct import pack
from typing import Any, cast

import numpy as np

_sure: set[type] = {str, bytes, type(None), type(...), type}  # equal ones of these are the same


def exact_key(value: Any) -> Any:
    """A key of a value that tells numbers apart by type and bits, also inside of tuples.

    Values of other types are compared by ``==``. The key of an unhashable value is unhashable.
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


def keeps_alive(value: Any) -> bool:
    """Return whether a key of ``value`` would keep alive functions, or objects equal to no other.

    Such objects are often made anew for every call. Classes that have only one object for each
    value declare it by the attribute ``is_interned``.
    """
    cls = value.__class__
    if cls in _sure or getattr(cls, "is_interned", False):
        return False
    if issubclass(cls, (tuple, frozenset)):
        return any(map(keeps_alive, cast("Iterable[Any]", value)))
    return cls.__hash__ is object.__hash__ or (callable(value) and not isinstance(value, type))


class ParameterKeys:
    """Makes the keys of one primitive's parameters without a walk through their values, which would
    cost more than the rest of tracing an operation.

    ``marshal`` writes Python's own numbers and tuples of them by type and bits, three times as
    quickly (2 is its last version whose bytes do not depend on which objects are one). Which
    parameters are such is learnt from the first ones; the others, whose values can mostly be keys
    themselves (None, names, dtypes), stand beside what it writes. A look-up is
    ``entries[keys.of(params)]``; values are stored under :meth:`new`.
    """

    __slots__ = ("_split",)

    def __init__(self) -> None:
        # The number of parameters, a getter of those that are numbers, and one of the others.
        # Replaced as one tuple: halves learnt by two threads would give wrong keys.
        self._split: tuple[int, Any, Any] = (_UNSEEN, None, None)

    def of(self, params: dict[str, Any]) -> Any:
        """The key to look up."""
        count, numbers_of, others_of = self._split
        if len(params) != count:
            return _walked(params)
        try:
            numbers = dumps(numbers_of(params), 2)
            if others_of is None:
                return numbers
            others = others_of(params)
        except (KeyError, ValueError):  # other names; something else among numbers
            return _walked(params)
        for value in others:
            if value.__class__ not in _sure:
                return numbers, tuple(map(exact_key, others))
        return numbers, others

    def new(self, params: dict[str, Any]) -> Any:
        """The key to store something under."""
        count = self._split[0]
        if count == _UNSEEN:
            numbers = [k for k, v in params.items() if v.__class__ in _NUMBERS]
            others = [k for k in params if k not in numbers]
            self._split = (
                count := len(params),
                itemgetter(*numbers) if numbers else len,
                _getter(others) if others else None,
            )
        if count != _WALKED and _has_buffers(params.values()):
            self._split = _WALKED, None, None  # marshal writes the bytes of these, not their type
        return self.of(params)


_NUMBERS = frozenset({int, float, complex, bool, tuple})
_UNSEEN, _WALKED = -1, -2


def _walked(params: dict[str, Any]) -> Any:
    return tuple([(k, exact_key(v)) for k, v in params.items()])


def _getter(names: Sequence[str]) -> Callable[[dict[str, Any]], tuple[Any, ...]]:
    """The values of these names, as a tuple also where there is only one."""
    return itemgetter(*names) if len(names) > 1 else lambda params: (params[names[0]],)


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
