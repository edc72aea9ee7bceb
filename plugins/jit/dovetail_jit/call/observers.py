"""Observers of programs that run: of results that options ask to look at, and of the time of runs.

A call that C++ repeats is seen by nobody, so there are no such calls while somebody observes: the
option's state, or a number, is part of the key by which C++ tells calls apart, and what is found
under it is not for C++ to repeat. While nobody observes this costs a test where a program is
compiled.
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
"""The equations of a program that know the user's line: all of them; those in sub-programs, where
the program is one operation; none, where it is a function of the library. Such a program was traced
for some other line of the user's, and is run again from this one."""


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


Look = Callable[[Run], None]
_watches: list[tuple[Option, Look]] = []
_settings = cached(permanent="the environment sets options once")(load_settings)


def watch_results(option: Option, look: Look) -> None:
    """Call ``look(run)`` after each program that runs at rest while ``option`` is on.

    What it raises is raised by the call. The option must be made with ``traced=True``.
    """
    _watches.append((option, look))


def watching() -> bool:
    """Tell whether anybody looks at results: then no memory is given away, and C++ repeats no
    call."""
    _settings()
    return any(option.value for option, _ in _watches)


def look_at(result: Run) -> None:
    """Show a run to those that look."""
    for option, look in _watches:
        if option.value:
            look(result)


Hear = Callable[[Any, float], None]
_numbers = count(1)


class _Watch(NamedTuple):
    """The listener to runs, and the number by which calls are told from those of other times.

    C++ keeps the numbers in its keys, so that what was cached at one time serves no other, and
    nobody who heard is kept alive.
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

    Meanwhile every call goes through Python, and waits for its results: ``seconds`` is how long the
    program itself took. Calls are as before when it is left; it costs nothing while nobody watches.
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
