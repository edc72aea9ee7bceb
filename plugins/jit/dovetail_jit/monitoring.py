"""Events with which programs and libraries watch what goes on, and what the compiler does.

While anybody listens, tracing, lowering and compiling tell their durations under JAX's names for
them, and what was read from the cache is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_base.source import called, not_callable, short_repr
from dovetail_core import config, hookimpl
from dovetail_hooks import manager

__all__ = [
    "clear_event_listeners", "record_event", "record_event_duration_secs",
    "record_event_time_span", "record_scalar", "register_event_duration_secs_listener",
    "register_event_listener", "register_event_time_span_listener", "register_scalar_listener",
    "unregister_event_duration_listener", "unregister_event_listener",
    "unregister_event_time_span_listener", "unregister_scalar_listener",
]  # fmt: skip

Listener = Callable[..., None]


class _Listeners:
    """Those of one kind of event, in the order in which they came."""

    def __init__(self) -> None:
        self.all: tuple[Listener, ...] = ()

    def add(self, callback: Listener) -> None:
        if not callable(callback):
            raise not_callable("callback", callback)
        self.all = (*self.all, callback)
        if not manager().is_registered(_compiler):
            manager().register(_compiler)

    def remove(self, callback: Listener) -> None:
        if callback not in self.all:
            raise ValueError(f"{short_repr(callback)} is not registered{called()}")
        rest = list(self.all)
        rest.remove(callback)
        self.all = tuple(rest)

    def tell(self, *args: Any, **metadata: Any) -> None:
        for callback in self.all:
            callback(*args, **metadata)


_events, _durations, _spans, _scalars = (_Listeners() for _ in range(4))


def record_event(event: str, **metadata: str | int) -> None:
    """Tell the listeners that something happened: each is called with these arguments."""
    _events.tell(event, **metadata)


def record_event_duration_secs(event: str, duration: float, **metadata: str | int) -> None:
    """Tell the listeners for durations that something took so many seconds."""
    _durations.tell(event, duration, **metadata)


def record_event_time_span(
    event: str, start_time: float, end_time: float, **metadata: str | int
) -> None:
    """Tell the listeners for time spans when something began and ended, in seconds."""
    _spans.tell(event, start_time, end_time, **metadata)


def record_scalar(event: str, value: float | int, **metadata: str | int) -> None:
    """Tell the listeners for scalars a number."""
    _scalars.tell(event, value, **metadata)


def register_event_listener(callback: Listener) -> None:
    """Call ``callback(event, **metadata)`` at each :func:`record_event`, until it is unregistered.

    Raises:
        TypeError: it cannot be called.
    """
    _events.add(callback)


def register_event_duration_secs_listener(callback: Listener) -> None:
    """Call ``callback(event, seconds, **metadata)`` at each :func:`record_event_duration_secs`.

    Raises:
        TypeError: it cannot be called.
    """
    _durations.add(callback)


def register_event_time_span_listener(callback: Listener) -> None:
    """Call ``callback(event, start, end, **metadata)`` at each :func:`record_event_time_span`.

    Raises:
        TypeError: it cannot be called.
    """
    _spans.add(callback)


def register_scalar_listener(callback: Listener) -> None:
    """Call ``callback(event, value, **metadata)`` at each :func:`record_scalar`.

    Raises:
        TypeError: it cannot be called.
    """
    _scalars.add(callback)


def unregister_event_listener(callback: Listener) -> None:
    """Call it no more. Raises ValueError if it is not registered."""
    _events.remove(callback)


def unregister_event_duration_listener(callback: Listener) -> None:
    """Call it no more. Raises ValueError if it is not registered."""
    _durations.remove(callback)


def unregister_event_time_span_listener(callback: Listener) -> None:
    """Call it no more. Raises ValueError if it is not registered."""
    _spans.remove(callback)


def unregister_scalar_listener(callback: Listener) -> None:
    """Call it no more. Raises ValueError if it is not registered."""
    _scalars.remove(callback)


def clear_event_listeners() -> None:
    """Unregister all listeners."""
    for kind in (_events, _durations, _spans, _scalars):
        kind.all = ()
    if manager().is_registered(_compiler):
        manager().unregister(_compiler)


class _Compiler:
    """Hooks that tell what the stages of compilation took."""

    @hookimpl
    def dovetail_traced(self, name: str, seconds: float) -> None:
        record_event_duration_secs("/jax/core/compile/jaxpr_trace_duration", seconds, fun_name=name)

    @hookimpl
    def dovetail_lowered(self, name: str, seconds: float) -> None:
        event = "/jax/core/compile/jaxpr_to_mlir_module_duration"
        record_event_duration_secs(event, seconds, fun_name=name)

    @hookimpl
    def dovetail_compiled(self, name: str, cached: bool, seconds: float) -> None:
        record_event("/jax/compilation_cache/compile_requests_use_cache")
        if not cached and _has_disk_cache():
            record_event("/jax/compilation_cache/cache_misses")
        if cached:
            record_event("/jax/compilation_cache/cache_hits")
            event = "/jax/compilation_cache/cache_retrieval_time_sec"
            record_event_duration_secs(event, seconds)
        event = "/jax/core/compile/backend_compile_duration"
        record_event_duration_secs(event, seconds, fun_name=name)


def _has_disk_cache() -> bool:
    """Tell whether there is a cache on disk, which a plugin brings."""
    option = "compilation_cache_dir"
    return option in config.names() and bool(config.read(option))


_compiler = _Compiler()
