"""Results of programs on devices of several processes that have been pending for too long.

Waits happen in the runtime, and repeated calls enter no Python, so that arrays are polled.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any
from weakref import ref


class Waiting:
    """Polls the arrays of several processes that are not computed yet.

    Args:
        arrays: returns the live ones. limit: returns the seconds after which a wait is too long.
        pause: the seconds between two polls. (In longer intervals this process was stopped.)
    """

    def __init__(
        self, arrays: Callable[[], Iterable[Any]], limit: Callable[[], float], pause: float
    ) -> None:
        self._arrays, self._limit, self._pause = arrays, limit, pause
        self._known: dict[int, tuple[ref[Any], float]] = {}
        self._last = time.monotonic()

    def poll(self) -> str | None:
        """The type of an array that has been pending for too long; None if there is none."""
        now = time.monotonic()
        passed, self._last = min(now - self._last, 2 * self._pause), now
        before, self._known = self._known, {}
        for x in self._arrays():
            if not _is_awaited(x):
                continue
            seen, seconds = before.get(id(x), (None, 0.0))
            seconds = seconds + passed if seen is not None and seen() is x else 0.0
            if seconds > self._limit():
                return x.aval.str_short()
            self._known[id(x)] = ref(x), seconds
        return None


def _is_awaited(x: Any) -> bool:
    try:
        return not (x.is_fully_addressable or x.is_deleted() or x.is_ready())
    except RuntimeError:  # it has just been deleted
        return False
