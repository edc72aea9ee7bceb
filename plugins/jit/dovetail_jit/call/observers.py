"""Observers of programs that run: of their results, if an option is on, and of their time.

Calls that C++ repeats are not observed, so there are none while there is an observer: the option's
state, or a number, is part of the key of a call in C++, and calls under that key are not repeated.
Without observers this costs a test when a program is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Literal, NamedTuple

from dovetail_base.caches import cached
from dovetail_base.scopes import Scope
from dovetail_core import ClosedJaxpr, Option
from dovetail_surface.configuration import load_settings
from dovetail_xla.config import watch_state

Lines = Literal["all", "inside", "none"]
"""The equations of a program that have the user's line: all of them; those in sub-programs, if the
program is one operation; none, if it is a function of the library. Such a program was traced for
another line of the user's."""


class Run(NamedTuple):
    """A program that has run, on concrete values.

    Attributes:
        name: of the function.
        lines: see :data:`Lines`; the line that runs is ``current_source()``.
    """

    program: ClosedJaxpr
    name: str
    operands: Sequence[Any]
    outs: Sequence[Any]
    lines: Lines = "all"


Observe = Callable[[Run], None]
_watches: list[tuple[Option, Observe]] = []
_settings = cached(permanent="the environment sets options once")(load_settings)


def watch_results(option: Option, observe: Observe) -> None:
    """Call ``observe(run)`` after each program that is evaluated while ``option`` is on.

    An exception of it is raised by the call. The option must be made with ``traced=True``.
    """
    _watches.append((option, observe))


def watching() -> bool:
    """Tell whether results are observed: then no memory is given away, and C++ repeats no call."""
    _settings()
    return any(option.value for option, _ in _watches)


def notify_observers(result: Run) -> None:
    """Show a run to the observers."""
    for option, observe in _watches:
        if option.value:
            observe(result)


Hear = Callable[[Any, float], None]
_numbers = count(1)


class _Watch(NamedTuple):
    """The listener to runs, and the number of the time in which it listens.

    C++ keeps the numbers in its keys, so that calls of one time are not used at another, and no
    listener is kept alive.
    """

    hear: Hear | None = None
    number: int = 0


class Timing:
    """Holds the one watch of the process."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = _Watch()

    @property
    def hear(self) -> Hear | None:
        """The listener to runs, if there is one."""
        return self.now.hear


timing = Timing()


class watched_calls(Scope):  # lower case: used as a function
    """While it is entered ``hear(executable, seconds)`` is called after each run, in any thread.

    Every call goes through Python then, and waits for its results: ``seconds`` is how long the
    program itself took. Calls are as before when it is left; it costs nothing without observers.
    """

    __slots__ = ("_hear",)

    def __init__(self, hear: Hear) -> None:
        super().__init__()
        self._hear = hear

    def _read(self) -> Any:
        return timing.now

    def _enter(self, outer: Any) -> None:
        self._leave(_Watch(self._hear, next(_numbers)))

    def _leave(self, outer: Any) -> None:
        timing.now = outer
        watch_state.set_global(outer.number)
