"""The door to the search for tracers that outlive their trace: provider ``leak_checker``.

It is asked where the option ``check_tracer_leaks`` is on, at the begin and at the end of whatever
begins and ends a trace.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar

from dovetail_base.options import check_tracer_leaks

from ..registry.discovery import registry
from .primitive import watch_traces as watch_traces

__all__ = (
    "LeakChecker",
    "leak_checked",
    "leak_checker",
    "watch_traces",
)

F = TypeVar("F", bound=Callable[..., Any])


class LeakChecker(Protocol):
    """The protocol of the provider."""

    def begin(self) -> Any:
        """A record of the traces that have ended and are alive at present."""
        ...

    def end(self, before: Any) -> None:
        """Raise UnexpectedTracerError if tracers of further traces that have ended are alive."""
        ...


def leak_checker() -> LeakChecker | None:
    """The provider where the option is on; else None.

    Raises:
        PluginError: the option is on, and no active plugin provides it.
    """
    return registry().provider("leak_checker") if check_tracer_leaks.value else None


def leak_checked(f: F) -> F:
    """``f``, which begins and ends a trace, with a check for leaks where the option is on."""
    checker = leak_checker()
    return f if checker is None else partial(_checked, checker, f)  # type: ignore[return-value]


def _checked(checker: LeakChecker, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    before = checker.begin()
    out = f(*args, **kwargs)
    checker.end(before)
    return out
