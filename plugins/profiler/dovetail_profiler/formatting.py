"""Texts of functions, source locations, types, times and sizes."""

from __future__ import annotations

import inspect
import os
from typing import Any

from dovetail_base.source import Source, callable_name, is_framework_module
from dovetail_jit import Signature

from .misses.signatures import arguments_of


def innermost(function: Any) -> Any:
    """The function that a user wrote, without its wrappers."""
    for _ in range(32):
        target = inspect.unwrap(function)
        inner = getattr(target, "func", None) or getattr(target, "__func__", None)
        if inner is None:
            return target
        function = inner
    return function


def title_of(function: Any) -> str:
    """A function's name within those of the transformations that made it: ``grad(loss)``."""
    title = callable_name(innermost(function))
    for _ in range(32):
        code, names = getattr(function, "__code__", None), getattr(function, "__globals__", {})
        inner = getattr(function, "__wrapped__", None)
        if code is None or inner is None:
            return title
        if is_framework_module(str(names.get("__name__", ""))):
            maker = code.co_qualname.partition(".<locals>")[0]
            return f"{maker}({title_of(inner)})"
        function = inner
    return title


def location_of(function: Any) -> str:
    """``FILE:LINE`` of a function's definition."""
    target = innermost(function)
    code = getattr(target, "__code__", None) or getattr(type(target).__call__, "__code__", None)
    if code is None:
        return getattr(type(target), "__module__", "?")
    return f"{short_path(code.co_filename)}:{code.co_firstlineno}"


def short_path(path: str) -> str:
    """A file's path relative to the working directory, if it is below that."""
    try:
        near = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return path if near.startswith("..") else near


def source_text(source: Source | None) -> str:
    """``FILE:LINE (FUNCTION)`` of a source location, with :func:`short_path` of the file."""
    if source is None:
        return "?"
    return f"{short_path(source.filename)}:{source.line} ({source.code.co_qualname})"


def is_own(function: Any) -> bool:
    """True if a function is Dovetail's or a plugin's, not the user's."""
    name = str(getattr(innermost(function), "__module__", ""))
    return is_framework_module(name) or name.partition(".")[0] == "jax"


def shown_types(function: Any, signature: Signature) -> str:
    """The types of a call's arguments by name: ``x: f32[8], state['w']: f32[8,8]``."""
    leaves = [
        f"{name}: {aval.str_short()}"
        for argument in arguments_of(function, signature).values()
        for name, aval in argument.leaves.items()
    ]
    more = len(leaves) - 8
    return ", ".join([*leaves[:8], *([f"and {more} more"] if more > 0 else [])]) or "no arguments"


def shown_time(seconds: float) -> str:
    """A time with three digits: ``1.23 ms``."""
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{_three(seconds * scale)} {unit}"
    return f"{_three(seconds * 1e6)} us"


def shown_bytes(n: float) -> str:
    """A size with three digits: ``1.23 MB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if n < 1000:
            return f"{_three(n)} {unit}"
        n /= 1000
    return f"{_three(n)} TB"


def _three(x: float) -> str:
    return f"{x:.3g}" if x < 999.5 else f"{x:.0f}"
