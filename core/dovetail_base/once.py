"""What is made once per process, at its first use, without a lock.

To make such a thing may import plugins, and so run anybody's code. A thread that held a lock
meanwhile could wait for an import that another thread has begun, and that thread for the lock:
Python breaks circles of its own import locks, but knows nothing of others. So nobody waits here.
Threads that come at once all make the thing (each module is still imported once, Python sees to
that), the first that is done publishes it, and all of them get that one.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """A thing that is made at the first call, and the same at every later one.

    Args:
        make: makes it; may run in several threads at once. What it raises is raised by the call,
            and the next call tries again.
        inside: what the thread that makes it gets, where code that it runs meanwhile asks; None:
            that makes it, too, and what is made inside is published first.
        made: called with the thing by the thread that publishes it.
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
        found = self._made.get("")
        return self._first() if found is None else found

    def _first(self) -> T:
        thread = get_ident()
        if thread in self._making and self._inside is not None:
            return self._inside()
        self._making.add(thread)
        try:
            mine = self._make()
        finally:
            self._making.discard(thread)
        found = self._made.setdefault("", mine)
        if found is mine:
            self._then(mine)
        return found

    @property
    def is_made(self) -> bool:
        return bool(self._made)

    def swap(self, new: T | None) -> T | None:
        """Put another in its place (None: make it at the next use); returns the old one."""
        old = self._made.pop("", None)
        if new is not None:
            self._made[""] = new
        return old

    def cache_clear(self) -> None:
        """Make it anew at the next use."""
        self._made.clear()
