"""Options: named settings with thread-local values, context managers and cache keys."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from dovetail_xla.config import (
    Config,
    LateConfig,
    disable_jit_state,
    enable_x64_state,
    trace_context,
    unset,
)

from .environment import as_bool, variable
from .scopes import Scope
from .source import here, short_repr


class Setting(Scope):
    """Sets an option in this thread for the length of a ``with`` block or of a call."""

    __slots__ = ("_config", "_value")

    def __init__(self, config: Any, value: Any) -> None:
        super().__init__()
        self._config = config
        self._value = value

    def _read(self) -> Any:
        return self._config.get_local()

    def _enter(self, outer: Any) -> None:
        self._config.set_local(self._value)

    def _leave(self, outer: Any) -> None:
        self._config.set_local(outer)


_traced: list[Any] = []  # the states of options and user contexts that traced programs depend on


class TracedUnder(Scope):
    """A scope in which traced options and user contexts have the values of when it was made.

    There is one object for all programs traced under one context: see :func:`traced_under`.
    """

    __slots__ = ("context", "values")

    def __init__(self, context: tuple[Any, ...]) -> None:
        super().__init__()
        self.context = context
        self.values = [state.value for state in _traced]

    def run(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if trace_context() == self.context:  # as nearly always
            return f(*args, **kwargs)
        return super().run(f, *args, **kwargs)

    def _read(self) -> Any:
        return [state.get_local() for state in _traced]

    def _enter(self, outer: Any) -> None:
        for state, value in zip(_traced, self.values):
            if state.value != value:
                state.set_local(value)

    def _leave(self, outer: Any) -> None:
        for state, value in zip(_traced, outer):
            state.set_local(value)


_last: TracedUnder | None = None


def traced_under() -> TracedUnder:
    """A scope that restores the present values of traced options: for code that belongs to a trace
    and runs when its program is evaluated, such as custom rules."""
    global _last
    context, result = trace_context(), _last
    if not result or result.context is not context or len(result.values) < len(_traced):
        result = _last = TracedUnder(context)
    return result


class Option:
    """A configuration option. ``option(value)`` is a context manager, and decorates functions.

    Args:
        name: also the attribute of ``config``, and in upper case with ``DOVETAIL_`` the
            environment variable that sets the default.
        doc: one sentence.
        check: turns a given value (or the environment's string) into a valid one, or raises.
        state: the runtime's own state object; by default a new one.
        traced: whether the value can change what is traced or compiled (it enters cache keys).
    """

    def __init__(
        self,
        name: str,
        default: Any,
        doc: str,
        *,
        check: Callable[[Any], Any] = lambda v: v,
        state: Any = None,
        traced: bool = False,
    ) -> None:
        self.name = self.__name__ = name
        self.__doc__ = doc
        self._check = check
        if state is None:
            state = LateConfig(name, default) if traced else Config(name, default)
        self.state: Any = state
        if traced:
            _traced.append(state)
        from_variable = variable(name)
        given = os.environ.get(from_variable)
        self.state.set_global(default if given is None else self._valid(given, from_variable))

    def _valid(self, value: Any, from_variable: str = "") -> Any:
        try:
            return self._check(value)
        except Exception as e:  # a check may fail in any way
            where = (
                f"environment variable {from_variable}"
                if from_variable
                else f"option {self.name!r}"
            )
            line = "" if from_variable else here()
            if type(e) in (TypeError, ValueError, RuntimeError):
                raise type(e)(f"{where}: {e}{line}") from None
            raise ValueError(
                f"{where}: its check of {short_repr(value)} fails: {type(e).__name__}{line}"
            ) from e

    @property
    def value(self) -> Any:
        return self.state.value

    def set(self, value: Any) -> None:
        """Set the option for the whole process."""
        self.state.set_global(self._valid(value))

    def __call__(self, new_val: Any = True) -> Setting:
        return Setting(self.state, self._valid(new_val))


class _DisableJit(Option):
    def __call__(self, disable: Any = True) -> Setting:  # pyright: ignore  # the public name of it
        return super().__call__(disable)


class UserContext:
    """A user's value that is part of the key of traced functions: :func:`make_user_context`."""

    def __init__(self, default: Any) -> None:
        self._state = LateConfig("dovetail_user_context", default)
        _traced.append(self._state)

    @property
    def value(self) -> Any:
        return self._state.value

    def __call__(self, new_val: Any) -> Setting:
        return Setting(self._state, new_val)


def make_user_context(default_value: Any = None) -> UserContext:
    """Make a setting that functions may read while they are traced.

    ``context(value)`` is a context manager and a decorator, ``context.value`` is the present value
    in this thread. A compiled function is traced once for each value that it is called under;
    values are compared by ``==``, and must be hashable. Make contexts when a module is imported:
    each that is used makes every call a little slower, for as long as the process lives.
    """
    return UserContext(default_value)


enable_x64 = Option(
    "enable_x64",
    False,
    "Arrays may have 64-bit types.",
    check=as_bool,
    state=enable_x64_state,
    traced=True,
)
disable_jit = _DisableJit(
    "disable_jit",
    False,
    "jit-compiled functions run operation by operation.",
    check=as_bool,
    state=disable_jit_state,
)
check_tracer_leaks = Option(
    "check_tracer_leaks",
    False,
    "A traced value that is kept after its trace has ended is an error, which says where it is.",
    check=as_bool,
    traced=True,
)


def checking_leaks() -> Setting:
    """The option ``check_tracer_leaks``, on: a context manager and a decorator."""
    return check_tracer_leaks(True)


enable_checks = Option(
    "enable_checks", False, "Check every program after it is made.", check=as_bool
)
__all__ = [
    "Option",
    "TracedUnder",
    "as_bool",
    "enable_checks",
    "check_tracer_leaks",
    "checking_leaks",
    "disable_jit",
    "enable_x64",
    "make_user_context",
    "traced_under",
    "unset",
]
