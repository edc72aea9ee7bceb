"""Objects that are made once per process, at their first use, without a lock.

To make such an object may import plugins, and so run any code. A thread that held a lock in that
time could wait for an import that another thread has begun, and that thread for the lock: Python
resolves deadlocks of its own import locks, but knows nothing of others. So no thread waits here.
Threads that call at the same time all make the object (Python still imports each module once), the
first one to finish publishes it, and all of them get that one.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """A function that makes an object at the first call and returns that one at every later call.

    Args:
        make: makes the object; may run in several threads at once. What it raises is raised by the
            call, and the next call tries again.
        inside: returns the result of calls by the same thread while ``make`` runs; None: these run
            ``make``, too, and the object of the inner call is published.
        made: called with the object by the thread that publishes it.
    """

    __slots__ = ("_inside", "_made", "_make", "_making", "_then")

    def __init__(
        self,
        make: Callable[[], T],
        inside: Callable[[], T] | None = None,
        made: Callable[[T], object] = lambda thing: None,
    ) -> None:
        self._make, self._inside, self._then = make, inside, made
        self._made: dict[str, T] = {}  # at most one; dict.setdefault is atomic
        self._making: set[int] = set()  # threads

    def __call__(self) -> T:
        result = self._made.get("")
        return self._first() if result is None else result

    def _first(self) -> T:
        thread = get_ident()
        if thread in self._making and self._inside is not None:
            return self._inside()
        self._making.add(thread)
        try:
            mine = self._make()
        finally:
            self._making.discard(thread)
        result = self._made.setdefault("", mine)
        if result is mine:
            self._then(mine)
        return result

    @property
    def is_made(self) -> bool:
        return bool(self._made)

    def swap(self, new: T | None) -> T | None:
        """Replace the object (None: make it at the next use); returns the old one, or None."""
        old = self._made.pop("", None)
        if new is not None:
            self._made[""] = new
        return old

    def cache_clear(self) -> None:
        """Make the object anew at the next use."""
        self._made.clear()
