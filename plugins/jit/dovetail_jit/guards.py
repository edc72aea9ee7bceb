"""What ``jit`` adds around the C++ call where arguments are static or donated.

Other functions are called in C++ without it. A guard costs 0.2 us a call, and per donated array
what it takes to give up its memory in Python, too: after that every use of the array, also by a
call that stays in C++, is sent to Python, where the error names the array and who took it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from dovetail_backends import deleted_error, give_away
from dovetail_core import typeof
from dovetail_core.base.errors import integer_too_large
from dovetail_core.tree.util import calls, keystr, tree_flatten_with_path
from dovetail_core.xla.arrays import ArrayImpl

from .exact_statics import told_apart, twinless, value_of
from .settings import Settings


def guarded(call: Callable[..., Any], settings: Settings) -> Callable[..., Any]:
    """``call``, with our error for unhashable static arguments, and donated arrays given away."""
    nums, names = settings.donate_nums, settings.donate_names
    if not (settings.has_statics or nums or names):
        return call
    plain, by_identity = _plain, object.__eq__
    static_nums, static_names = settings.static_nums, settings.static_names

    def called(*args: Any, **kwargs: Any) -> Any:
        passed, count = args, len(args)
        for n in static_nums:
            if -count <= n < count:
                cls = (x := args[n]).__class__
                if cls in plain or cls.__eq__ is by_identity:
                    continue
                if (exact := told_apart(x)) is not x:
                    passed = (*passed[:n], exact, *passed[n % count + 1 :])
        try:
            if not kwargs:
                out = call(*passed)
            else:
                out = call(*passed, **_exact_named(kwargs, static_names))
        except ValueError:
            settings.reject_unhashable(args, kwargs)  # C++'s own error names no argument
            raise
        for n in nums:
            if -count <= n < count:
                _give_away(args[n], settings.name)
        if kwargs and names:
            for k in names.intersection(kwargs):
                _give_away(kwargs[k], settings.name)
        return out

    return called


def _exact_named(kwargs: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    named = kwargs
    for k in names:
        if k in kwargs and (exact := told_apart(x := kwargs[k])) is not x:
            named = {**named, k: exact}
    return named


_plain = twinless | {ArrayImpl, np.ndarray, dict, list}
"""Types of static arguments that are not looked at any further."""

_CONTAINERS = (dict, tuple, list)


def given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call as its caller gave them, from what C++ was given."""
    return tuple(map(value_of, args)), {k: value_of(x) for k, x in kwargs.items()}


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
