"""What ``jit`` adds around the C++ call where arguments are static or donated.

Other functions are called in C++ without it. A guard costs 0.2 us a call, and per donated array
what it takes to give up its memory in Python, too: after that every use of the array, also by a
call that stays in C++, is sent to Python, where the error names the array and who took it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dovetail_backends import deleted_error, give_away
from dovetail_core import Tracer, current_source, describe_source
from dovetail_core.tree_util import keystr, tree_flatten_with_path, tree_leaves
from dovetail_core.xla.arrays import ArrayImpl

if TYPE_CHECKING:
    from .api import Settings


def guarded(call: Callable[..., Any], settings: Settings) -> Callable[..., Any]:
    """``call``, with our error for unhashable static arguments, and donated arrays given away."""
    if settings.donate_nums or settings.donate_names:
        return _donating(call, settings)
    if settings.static_nums or settings.static_names:
        return _static(call, settings)
    return call


def _static(call: Callable[..., Any], settings: Settings) -> Callable[..., Any]:
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(*args, **kwargs)
        except ValueError:
            reject_static(settings, args, kwargs)  # C++'s own error names no argument
            raise

    return called


def _donating(call: Callable[..., Any], settings: Settings) -> Callable[..., Any]:
    nums, names, name = settings.donate_nums, settings.donate_names, settings.name

    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            out = call(*args, **kwargs)
        except ValueError:
            reject_static(settings, args, kwargs)
            raise
        for n in nums:
            if -len(args) <= n < len(args):
                _give_away(args[n], name)
        if kwargs:
            for k in names:
                if k in kwargs:
                    _give_away(kwargs[k], name)
        return out

    return called


def _give_away(tree: Any, name: str) -> None:
    for x in (tree,) if tree.__class__ is ArrayImpl else tree_leaves(tree):
        if x.__class__ is ArrayImpl and x.is_deleted():  # those that the call did take
            give_away(x, name)


def reject_static(settings: Settings, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise for a static argument that has no hash; return if there is none.

    Raises:
        ValueError: names the function, the argument, the place of the call and what to do.
    """
    named = [(f"argument {n}", args[n]) for n in settings.static_nums if n < len(args)]
    named += [(f"argument {k!r}", v) for k, v in kwargs.items() if k in settings.static_names]
    for label, value in named:
        try:
            hash(value)
        except TypeError as e:
            if isinstance(value, Tracer):
                raise ValueError(
                    f"jit of {settings.name}: static {label}: {value!r} is not hashable: a traced "
                    f"value has no fixed value to hash{describe_source(current_source())}. Where "
                    "it selects what is computed, make the argument that it comes from static, "
                    "too (static_argnums); else pass it as an ordinary argument."
                ) from None
            raise ValueError(
                f"jit of {settings.name}: static {label} of type {type(value).__name__} is not "
                f"hashable{describe_source(current_source())} ({e}). Static arguments select a "
                "compiled program, so they must be hashable: pass a tuple instead of a list or "
                "dict, a Python number instead of an array, or do not make it static."
            ) from None


def reject_deleted(settings: Settings, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise for the first array among a call's arguments that was deleted or donated.

    Raises:
        RuntimeError: names the argument, and what :func:`dovetail_backends.deleted_error` says.
    """
    for path, x in tree_flatten_with_path((args, kwargs))[0]:
        if x.__class__ is ArrayImpl and x.is_deleted():
            where = f"{'kwargs' if path[0].idx else 'args'}{keystr(path[1:])}"  # type: ignore[attr-defined]
            raise RuntimeError(f"jit of {settings.name}: {where}: {deleted_error(x)}")
