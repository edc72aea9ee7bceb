"""Names of callables, and wrappers and aliases that have the attributes of other functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import WRAPPER_ASSIGNMENTS, partial, update_wrapper as update
from types import FunctionType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_TYPES: dict[str, type] = {
    "__name__": str, "__qualname__": str, "__annotations__": dict, "__type_params__": tuple,
}  # fmt: skip

STAGES = ("trace", "lower", "eval_shape", "clear_cache", "_cache_size")
"""Attributes of a compiled function, which a wrapper of it must not have."""


def alias(f: F, name: str, module: str | None = None) -> F:
    """A function that does what ``f`` does and is called ``name``, by which pickles find it.

    It is a new function, not one that calls ``f``. If ``f`` is compiled, it is a copy of the
    function before compilation, to be compiled in its turn.

    Args:
        module: its ``__module__``; by default that of ``f``.
    """
    given: Any = f if isinstance(f, FunctionType) else f.__wrapped__  # type: ignore[attr-defined]
    code = given.__code__.replace(co_name=name, co_qualname=name)
    made = FunctionType(code, given.__globals__, name, given.__defaults__, given.__closure__)
    made.__kwdefaults__, made.__annotations__ = given.__kwdefaults__, given.__annotations__
    made.__doc__, made.__module__ = given.__doc__, module or given.__module__
    made.__dict__.update(given.__dict__)
    return made  # type: ignore[return-value]


def callable_name(f: Any) -> str:
    """The name of a callable in messages; that of its function for a ``functools.partial``."""
    name = getattr(f, "__name__", None)
    if isinstance(name, str):
        return name
    return callable_name(f.func) if isinstance(f, partial) else type(f).__name__


def update_wrapper(wrapper: F, wrapped: Any) -> F:
    """``functools.update_wrapper`` without values that a function cannot have, and without the
    stages of a compiled one: ``vmap(jit(f)).lower`` would be that of ``jit(f)``.

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
