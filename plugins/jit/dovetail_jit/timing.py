"""Hearing of every run of a compiled program."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

from dovetail_base.scopes import Scope
from dovetail_xla.config import watch_state

Hear = Callable[[Any, float], None]
_numbers = count(1)


class _Watch(NamedTuple):
    """Who hears of runs now, and the number by which calls are told from those of other times.

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
        """Who hears of runs, if anybody does."""
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
