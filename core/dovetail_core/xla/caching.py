"""Caches in C++ whose entries die with the object that they are about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._bindings import trace_context
from ._lazy import load


def _no_context() -> None:
    return None


def weakref_lru_cache(
    fn: Callable[..., Any], maxsize: int = 2048, *, in_trace_context: bool = False
) -> Any:
    """`fn(first, *rest)` memoised, with `first` held weakly and compared by its `==` and hash.

    With `in_trace_context` the configs that shape traces are part of the key. The result is
    callable and has `cache_clear()` and `cache_info()`.
    """
    make = load("weakref_lru_cache").weakref_lru_cache
    return make(trace_context if in_trace_context else _no_context, fn, maxsize)
