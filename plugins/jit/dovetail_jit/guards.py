"""What ``jit`` adds around the C++ call where arguments are static or donated.

Other functions are called in C++ without it. A guard costs 0.2 us a call, and per donated array
what it takes to give up its memory in Python, too: after that every use of the array, also by a
call that stays in C++, is sent to Python, where the error names the array and who took it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from dovetail_backends import deleted_error, give_away
from dovetail_core import typeof
from dovetail_core.base.errors import integer_too_large
from dovetail_core.base.keys import exact_key
from dovetail_core.base.options import disable_jit
from dovetail_core.tree.util import PyTreeDef, calls, keystr, tree_flatten_with_path
from dovetail_core.xla.arrays import ArrayImpl

from .settings import Settings


def guarded(call: Callable[..., Any], settings: Settings) -> Callable[..., Any]:
    """``call``, with our error for unhashable static arguments, and donated arrays given away."""
    nums, names = settings.donate_nums, settings.donate_names
    if not (settings.has_statics or nums or names):
        return call
    kept = call
    if settings.has_statics:
        kept = _with_one_static(_with_exact_statics(call, settings), call, settings)
    if not (nums or names):
        return kept

    def giving(*args: Any, **kwargs: Any) -> Any:
        out = kept(*args, **kwargs) if kwargs else kept(*args)
        for n in nums:
            if -len(args) <= n < len(args):
                _give_away(args[n], settings.name)
        if kwargs:
            for k in names:
                if k in kwargs:
                    _give_away(kwargs[k], settings.name)
        return out

    return giving


def _with_one_static(
    careful: Callable[..., Any], call: Callable[..., Any], settings: Settings
) -> Callable[..., Any]:
    """``careful``, left out where the only static argument cannot be taken for another one, in a
    call that names no other: C++ is given it by position, which is as quick as without statics."""
    if (name := _only_static(settings)) is None:
        return careful
    (place,), plain = settings.static_nums, _twinless

    def called(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            if len(args) > place and args[place].__class__ in plain:
                return call(*args)
        elif (
            len(kwargs) == 1
            and len(args) == place
            and name in kwargs
            and (x := kwargs[name]).__class__ in plain
        ):
            return call(*args, x)
        return careful(*args, **kwargs)

    return called


def _only_static(settings: Settings) -> str | None:
    """The name of the only static argument, where it may be given by name and by position."""
    nums, names, fun = settings.static_nums, settings.static_names, settings.fun
    if len(nums) != 1 or len(names) != 1 or fun.__class__ is not FunctionType:
        return None
    code, place = fun.__code__, nums[0]
    if hasattr(fun, "__wrapped__") or not code.co_posonlyargcount <= place < code.co_argcount:
        return None
    return code.co_varnames[place] if code.co_varnames[place] in names else None


def _with_exact_statics(call: Callable[..., Any], settings: Settings) -> Callable[..., Any]:
    plain, all_plain, by_identity = _plain, _plain.issuperset, object.__eq__

    def called(*args: Any, **kwargs: Any) -> Any:  # what most calls need is written out here
        for x in args:
            cls = x.__class__
            if cls in plain or cls.__eq__ is by_identity:
                continue
            if cls is not tuple or not (all_plain(map(type, x)) or not _has_twin_inside(x)):
                return careful(args, kwargs)
        try:
            if not kwargs:
                return call(*args)
            for x in kwargs.values():
                cls = x.__class__
                if cls in plain or cls.__eq__ is by_identity:
                    continue
                if cls is not tuple or not all_plain(map(type, x)):
                    return careful(args, kwargs)
            return call(*args, **kwargs)
        except ValueError:
            settings.reject_unhashable(args, kwargs)  # C++'s own error names no argument
            raise

    def careful(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        passed, named, count = args, kwargs, len(args)
        for n in settings.static_nums:
            if -count <= n < count and _has_twin(args[n]):
                passed = _told_apart(passed, n)
        for k in settings.static_names:
            if k in kwargs and _has_twin(kwargs[k]):
                named = {**named, k: _tell_apart(kwargs[k])}
        try:
            return call(*passed, **named)
        except ValueError:
            settings.reject_unhashable(args, kwargs)
            raise

    return called


# C++ compares static arguments by their type and ``==``, and what is in them by ``==`` alone.
_twinless: set[type] = {  # inside of tuples, too
    int, str, bytes, type(None), FunctionType, BuiltinFunctionType, PyTreeDef,
}  # fmt: skip

_plain = _twinless | {ArrayImpl, np.ndarray, dict, list}
"""Types of arguments that are not looked at any further, whether they are static or not."""

_CONTAINERS = (dict, tuple, list)

_NUMBERS = (bool, float, complex, np.generic)
"""Types of which values in a collection equal values of other types."""


class _Exact:
    """Stands for a static argument in C++, where it is compared by type and bits."""

    __slots__ = ("value", "key")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.key = exact_key(value)

    def __eq__(self, other: object) -> bool:
        return other.__class__ is _Exact and self.key == other.key  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self.key)


def _told_apart(args: tuple[Any, ...], n: int) -> tuple[Any, ...]:
    n %= len(args)
    return (*args[:n], _tell_apart(args[n]), *args[n + 1 :])


def _tell_apart(value: Any) -> Any:
    return value if disable_jit.value else _Exact(value)  # then C++ calls the function itself


def _has_twin(value: Any) -> bool:
    """Whether C++ would take another value for this one, or not this one for itself (``nan``)."""
    cls = type(value)
    if cls in _twinless:
        return False
    if issubclass(cls, (tuple, frozenset)):
        return _has_twin_inside(value)
    if issubclass(cls, (float, complex, np.generic)):
        return bool(value == 0) or bool(value != value)
    return False


def _has_twin_inside(collection: Iterable[Any]) -> bool:
    found = [*collection]
    for x in found:  # grows
        cls = x.__class__
        if cls in _twinless:
            continue
        if cls is tuple or issubclass(cls, (tuple, frozenset)):
            found += x
        elif issubclass(cls, _NUMBERS):
            return True
    return False


def given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call as its caller gave them, from what C++ was given."""
    plain = tuple([x.value if x.__class__ is _Exact else x for x in args])
    return plain, {k: x.value if x.__class__ is _Exact else x for k, x in kwargs.items()}


def _give_away(tree: Any, name: str) -> None:
    if tree.__class__ in _CONTAINERS and not tree:
        return
    for x in (tree,) if tree.__class__ is ArrayImpl else calls.flatten(tree)[0]:
        if x.__class__ is ArrayImpl and x.is_deleted():  # those that the call did take
            give_away(x, name)


def reject_deleted(settings: Settings, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise for the first array among a call's arguments that was deleted or donated.

    Raises:
        RuntimeError: names the argument, and what :func:`dovetail_backends.deleted_error` says.
    """
    for path, x in tree_flatten_with_path((args, kwargs))[0]:
        if x.__class__ is ArrayImpl and x.is_deleted():
            raise RuntimeError(f"{_argument(settings, path)}: {deleted_error(x)}")


def reject_too_large(settings: Settings, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise for the first Python integer among a call's arguments that its type cannot hold.

    Raises:
        OverflowError: names the argument, the type and the remedy.
    """
    for path, x in tree_flatten_with_path((args, kwargs))[0]:
        if x.__class__ is int:
            dtype: Any = typeof(x).dtype  # type: ignore[attr-defined]
            if not -(1 << 8 * dtype.itemsize - 1) <= x < 1 << 8 * dtype.itemsize - 1:
                error = integer_too_large(x, dtype)
                raise OverflowError(f"{_argument(settings, path)}: {error}")


def _argument(settings: Settings, path: Any) -> str:
    """``jit of f: args[0]['a']``."""
    return f"jit of {settings.name}: {'kwargs' if path[0].idx else 'args'}{keystr(path[1:])}"
