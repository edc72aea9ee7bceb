"""Guards around the C++ call of ``jit``, for static and donated arguments.

Other functions are called in C++ without it. A guard costs 0.2 us a call, and per donated array
what it takes to give up its memory in Python, too: after that every use of the array, also by a
call that stays in C++, is sent to Python, where the error names the array and who took it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from dovetail_backends import deleted_error, release_donated
from dovetail_base.errors import integer_too_large
from dovetail_core import typeof
from dovetail_tree.util import calls, keystr, tree_flatten_with_path
from dovetail_xla.arrays import ArrayImpl

from .settings import Settings
from .static_key import EXACT_TYPES, static_key, value_of


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
    """``careful``, skipped if the only static argument needs no key and there is no other keyword:
    C++ gets it by position, which is as quick as a call without static arguments."""
    if (name := _only_static(settings)) is None:
        return careful
    (position,), plain = settings.static_nums, EXACT_TYPES

    def called(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            if len(args) > position:
                cls = args[position].__class__
                if cls in plain or (cls is tuple and settings.passes_tuples):
                    try:
                        return call(*args)
                    except ValueError:
                        settings.reject_unhashable(args, kwargs)
                        raise
        elif (
            len(kwargs) == 1
            and len(args) == position
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
    code, position = fun.__code__, nums[0]
    if hasattr(fun, "__wrapped__") or not code.co_posonlyargcount <= position < code.co_argcount:
        return None
    return code.co_varnames[position] if code.co_varnames[position] in names else None


def _with_exact_statics(call: Callable[..., Any], settings: Settings) -> Callable[..., Any]:
    plain, by_identity = _plain, object.__eq__
    nums, names = settings.static_nums, settings.static_names

    def called(*args: Any, **kwargs: Any) -> Any:
        passed, count = args, len(args)
        for n in nums:
            if -count <= n < count:
                cls = (x := args[n]).__class__
                if cls in plain:
                    continue
                if cls is tuple:
                    if settings.passes_tuples:
                        continue
                elif cls.__eq__ is by_identity:
                    continue
                if (exact := static_key(x)) is not x:
                    passed = (*passed[:n], exact, *passed[n % count + 1 :])
        try:
            if not kwargs:
                return call(*passed)
            return call(*passed, **_exact_named(kwargs, names))
        except ValueError:
            settings.reject_unhashable(args, kwargs)  # C++'s own error names no argument
            raise

    return called


def _exact_named(kwargs: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    named = kwargs
    for k in names:
        if k in kwargs and (exact := static_key(x := kwargs[k])) is not x:
            named = {**named, k: exact}
    return named


_plain = EXACT_TYPES | {ArrayImpl, np.ndarray, dict, list}
"""Types of static arguments that need no key."""

_CONTAINERS = (dict, tuple, list)


def as_given(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call as its caller gave them, from what C++ was given."""
    return tuple(map(value_of, args)), {k: value_of(x) for k, x in kwargs.items()}


def _give_away(tree: Any, name: str) -> None:
    if tree.__class__ in _CONTAINERS and not tree:
        return
    for x in (tree,) if tree.__class__ is ArrayImpl else calls.flatten(tree)[0]:
        if x.__class__ is ArrayImpl and x.is_deleted():  # those that the call did take
            release_donated(x, name)


def reject_deleted(settings: Settings, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise for the first array among a call's arguments that was deleted or donated.

    Raises:
        RuntimeError: names the argument, and what :func:`dovetail_backends.deleted_error` says.
    """
    for path, x in tree_flatten_with_path((args, kwargs))[0]:
        if x.__class__ is ArrayImpl and x.is_deleted():
            error = deleted_error(x)
            raise type(error)(f"{_argument(settings, path)}: {error}")


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
