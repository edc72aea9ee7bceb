"""Hearing of every run of a compiled program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_core.base.scopes import Scope
from dovetail_core.xla.config import watch_state

from .executables import Executable


class watched_calls(Scope):  # lower case: used as a function
    """While it is entered ``hear(executable, seconds)`` is called after each run, in any thread.

    Meanwhile every call goes through Python, and waits for its results: ``seconds`` is how long the
    program itself took. Calls are as before when it is left; it costs nothing while nobody watches.
    """

    __slots__ = ("hear",)

    def __init__(self, hear: Callable[[Executable, float], None]) -> None:
        super().__init__()
        self.hear = hear

    def _read(self) -> Any:
        return watch_state.get_global()

    def _enter(self, outer: Any) -> None:
        watch_state.set_global(self.hear)

    def _leave(self, outer: Any) -> None:
        watch_state.set_global(outer)
