"""Output of values while a program runs: ``debug.print``, ``debug.log`` and ``debug.callback``."""

from __future__ import annotations

import builtins
import logging
from collections.abc import Callable
from typing import Any

from dovetail_base.arguments import string
from dovetail_base.format_strings import check_format
from dovetail_core import current_source, describe_source, is_value
from dovetail_tree.util import tree_flatten

from .host import HostFunction
from .primitives import (
    DebugEffect as DebugEffect,
    OrderedDebugEffect as OrderedDebugEffect,
    debug_callback_p,
)

_logger = logging.getLogger("dovetail.debug")


def callback(
    callback: Callable[..., Any] | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> Any:
    """Call a Python function for its side effects; its result is ignored.

    Without a function it returns one that takes the function and its arguments, with the options
    given: ``debug.callback(ordered=True)(f, x, ordered=y)`` passes an argument ``ordered``.

    Under differentiation it gets primal values; under ``vmap`` it is called once per element. If a
    predicate is mapped, all branches run, and loops until their last element is done: then it is
    called for all elements.

    Args:
        callback: gets read-only NumPy arrays; arguments that are not arrays are passed unchanged.
        ordered: keep the order of such calls.
        partitioned: in a program on several devices, each device calls it with its shards of the
            arguments; otherwise it is called once, with the complete arrays, as in eager
            evaluation.

    Raises:
        TypeError: the callback is not callable, or there is none to take the arguments.
    """

    def call(callback: Callable[..., Any], /, *args: Any, **kwargs: Any) -> None:
        if not callable(callback):
            raise TypeError(
                f"debug.callback takes a function, got {callback!r} of type "
                f"{type(callback).__name__}"
            )
        _bind("debug.callback", callback, args, kwargs, ordered, partitioned)

    return _now_or_later("debug.callback", "function", call, callback, args, kwargs)


def print(  # the public name
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> Any:
    """Print values when the program runs: ``debug.print("x = {x}", x=x)``.

    Without a format it returns a function that takes the format and its arguments, with the options
    given: ``debug.print(ordered=True)("{ordered}", ordered=x)`` prints an argument ``ordered``.

    Args:
        fmt: a format for ``str.format``; ``args`` and ``kwargs`` are its arguments.
        ordered: keep the order of such lines.
        partitioned: each device prints its shards of the values, as in :func:`callback`.
        skip_format_check: do not check ``fmt`` before the program runs.

    Raises:
        TypeError: ``fmt`` is not a string, or there is none for the arguments.
        IndexError, KeyError: ``fmt`` names an argument that is not given.
        ValueError: an argument is given that ``fmt`` does not name.
    """
    line = _line("debug.print", None, ordered, partitioned, skip_format_check)
    return _now_or_later("debug.print", "format", line, fmt, args, kwargs)


def log(
    fmt: str | None = None,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    skip_format_check: bool = False,
    **kwargs: Any,
) -> Any:
    """Log values when the program runs, by the logger ``dovetail.debug`` at level INFO.

    Arguments, result and errors are those of :func:`print`.
    """
    line = _line("debug.log", _logger.info, ordered, partitioned, skip_format_check)
    return _now_or_later("debug.log", "format", line, fmt, args, kwargs)


def _line(
    what: str, show: Callable[[str], Any] | None, ordered: bool, partitioned: bool, unchecked: bool
) -> Callable[..., None]:
    """A function that prints its arguments, with these options."""

    def show_line(fmt: str, /, *args: Any, **kwargs: Any) -> None:
        string("fmt", fmt)
        if not unchecked:
            line = f"{what}{describe_source(current_source())}"
            check_format(line, "format", fmt, args, kwargs, names_only=True)
        _bind(what, Printer(fmt, show), args, kwargs, ordered, partitioned)

    return show_line


def _now_or_later(
    what: str, name: str, f: Callable[..., None], first: Any, args: Any, kwargs: Any
) -> Any:
    """``f(first, *args, **kwargs)``; ``f`` itself if only options were given."""
    if first is not None:
        return f(first, *args, **kwargs)
    if args or kwargs:
        given = f"{len(args)} positional arguments and {sorted(kwargs)}"
        raise TypeError(
            f"{what}{describe_source(current_source())}: no {name} is given, but {given}. Give the "
            f"{name} first, or pass options alone and call what is returned with the rest."
        )
    return f


class Printer:
    """Prints its arguments in a format, or passes the line to another function."""

    __slots__ = ("fmt", "show")
    __name__ = "print"

    def __init__(self, fmt: str, show: Callable[[str], Any] | None = None) -> None:
        self.fmt, self.show = fmt, show

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        line = self.fmt.format(*args, **kwargs)
        if self.show is not None:
            self.show(line)
        else:  # in one piece, as several devices may print at once
            builtins.print(f"{line}\n", end="")


def _bind(what: str, f: Any, args: Any, kwargs: Any, ordered: bool, partitioned: bool) -> None:
    leaves, in_tree = tree_flatten((args, kwargs))
    fixed = tuple((i, x) for i, x in enumerate(leaves) if not is_value(x))
    dynamic = [x for x in leaves if is_value(x)]
    host = HostFunction(what, f, in_tree, None, fixed)
    how = {"ordered": bool(ordered), "partitioned": bool(partitioned)}
    debug_callback_p.bind(*dynamic, callback=host, **how)


__all__ = ["DebugEffect", "OrderedDebugEffect", "callback", "log", "print"]
