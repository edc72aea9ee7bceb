"""Process state that jaxlib's C++ call path reads, made once at import."""

from __future__ import annotations

from threading import local
from typing import Any

from . import bindings as _b
from .bindings import (
    set_disable_jit_state,
    set_enable_x64_state,
    set_post_hook_state,
    set_tracebacks_enabled as set_tracebacks_enabled,
    unset as unset,
)

_defaults: list[Any] = []  # of the states that are part of the trace context, as it orders them


class _Known(local):
    """The trace context of a thread, and the ``_valid`` of when it was read; None: read it anew."""

    valid: object = None
    context: tuple[Any, ...] = ()


_known = _Known()
_valid = object()


def _contexts_change() -> None:
    """Every thread reads its trace context anew."""
    global _valid
    _valid = object()


class Config(_b.Config):
    """A named value of the process, or of a thread, that C++ reads.

    It lives as long as the process and, once in the jit key, is compared at every call of every
    compiled function: make them at import only, never per object.
    """

    def __init__(self, name: str, value: Any, *, include_in_jit_key: bool = False) -> None:
        super().__init__(name, value, include_in_jit_key=include_in_jit_key)


class TraceConfig(_b.Config):
    """A :class:`Config` that traced programs depend on: part of the jit key and of
    :func:`trace_context`."""

    def __init__(self, name: str, value: Any) -> None:
        super().__init__(name, value, include_in_jit_key=True, include_in_trace_context=True)
        _defaults.append(value)
        _contexts_change()

    def set_local(self, value: Any) -> None:
        """Set it in this thread; ``unset`` for what the process has."""
        _known.valid = None
        super().set_local(value)

    def swap_local(self, value: Any) -> Any:
        """Set it in this thread; returns what was set before."""
        _known.valid = None
        return super().swap_local(value)

    def set_global(self, value: Any) -> None:
        """Set it for all threads that have set nothing."""
        super().set_global(value)
        _contexts_change()


class LateConfig:
    """A value of call and trace cache keys that enters them when it first differs from its default.

    Each one in the keys costs every call of every compiled function some hundredths of a
    microsecond, and most programs change few options.
    """

    __slots__ = ("_default", "_made", "_name")

    def __init__(self, name: str, default: Any) -> None:
        self._name, self._default = name, default
        self._made: dict[str, TraceConfig] = {}  # at most one; dict.setdefault is atomic

    @property
    def value(self) -> Any:
        """The value in this thread."""
        made = self._made.get("")
        return self._default if made is None else made.value

    @property
    def was_set(self) -> bool:
        """Return whether any thread has ever set it to another value than its default."""
        return bool(self._made)

    def get_local(self) -> Any:
        """The value that this thread has set, or ``unset``."""
        made = self._made.get("")
        return unset if made is None else made.get_local()

    def set_local(self, value: Any) -> None:
        """Set it in this thread; ``unset`` for what the process has."""
        if value is not unset or self._made:
            self._set("set_local", value)

    def set_global(self, value: Any) -> None:
        """Set it for all threads that have set nothing."""
        self._set("set_global", value)

    def _set(self, method: str, value: Any) -> None:
        if not self._made:
            if value == self._default:
                return  # as it is
            self._made.setdefault("", TraceConfig(self._name, self._default))
        getattr(self._made[""], method)(value)


def trace_context() -> tuple[Any, ...]:
    """The values that traced programs depend on, for cache keys; one tuple object until one of them
    is set.

    Plugins make their options when they are first used. An option that is added late and has its
    default must change no key, or all programs would be traced again: the tuple ends with the last
    value that is not a default.
    """
    known, valid = _known, _valid
    if known.valid is not valid:
        known.context, known.valid = _read_context(), valid
    return known.context


def _read_context() -> tuple[Any, ...]:
    result = _b.trace_context()
    n = len(result)
    if n != len(_defaults):  # others have states of their own
        return result
    while n and result[n - 1] == _defaults[n - 1]:
        n -= 1
    return result[:n]


def context_by_name(context: tuple[Any, ...]) -> dict[str, Any]:
    """The values of a :func:`trace_context`, by name."""
    rest = _defaults[len(context) :]
    return dict(zip(_b.trace_context_names(), (*context, *rest)))


enable_x64_state = TraceConfig("dovetail_enable_x64", False)
"""True if 64-bit values keep their width; part of call and trace cache keys."""

disable_jit_state: Config = Config("dovetail_disable_jit", False)
"""True to let compiled callables call their Python functions instead."""

post_hook_state: Config = Config("dovetail_post_hook", None)
"""None, or f(fun, args, kwargs, out), called after each call that stayed in C++."""

tracing_state: Config = Config("dovetail_tracing", False, include_in_jit_key=True)
"""Part of the call key, so that what is cached outside a trace is not used inside one."""

watch_state: Config = Config("dovetail_watch", 0, include_in_jit_key=True)
"""Part of the call key: a new number each time a watch of calls begins, else 0."""

set_enable_x64_state(enable_x64_state)
set_disable_jit_state(disable_jit_state)
set_post_hook_state(post_hook_state)
