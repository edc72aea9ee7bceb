"""What functions are called, and functions that stand for others: for whatever can be called."""

from __future__ import annotations

from collections.abc import Callable
from functools import WRAPPER_ASSIGNMENTS, partial, update_wrapper as update
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_TYPES: dict[str, type] = {
    "__name__": str, "__qualname__": str, "__annotations__": dict, "__type_params__": tuple,
}  # fmt: skip

STAGES = ("trace", "lower", "eval_shape", "clear_cache", "_cache_size")
"""Attributes of a function that is compiled, which say nothing of one that calls it."""


def callable_name(f: Any) -> str:
    """What messages and programs call a function; a ``functools.partial`` goes by its function."""
    name = getattr(f, "__name__", None)
    if isinstance(name, str):
        return name
    return callable_name(f.func) if isinstance(f, partial) else type(f).__name__


def update_wrapper(wrapper: F, wrapped: Any) -> F:
    """``functools.update_wrapper`` without what no function may have, and without the stages of
    a compiled one: ``vmap(jit(f)).lower`` would be that of ``jit(f)``.

    Objects that can be called may have attributes of these names for purposes of their own, such as
    a ``__name__`` that is no string.
    """
    fits = [n for n in WRAPPER_ASSIGNMENTS if isinstance(getattr(wrapped, n, None), _of(n))]
    update(wrapper, wrapped, assigned=fits)
    own = getattr(wrapper, "__dict__", {})
    if "lower" in own:
        for name in STAGES:
            own.pop(name, None)
    if "__name__" not in fits and hasattr(wrapped, "__name__"):
        wrapper.__name__ = wrapper.__qualname__ = callable_name(wrapped)  # type: ignore[attr-defined]
    return wrapper


def _of(name: str) -> type:
    return _TYPES.get(name, object)


def wraps(wrapped: Any) -> Callable[[F], F]:
    """Decorator: :func:`update_wrapper` of what it decorates."""
    return lambda wrapper: update_wrapper(wrapper, wrapped)
