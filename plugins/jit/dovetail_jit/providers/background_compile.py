"""Compilations in the background: one after the other, in separate threads."""

from __future__ import annotations

import atexit
import threading
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from dovetail_core import config
from dovetail_xla import fork
from dovetail_xla.interrupts import threads_can_import, wait_at_exit

from ..call.providers import executable_for
from ..call.request import Request


class Compilation:
    """A compilation in the background; its program has the executable when it ``is_over``.

    One that has failed is over, too: compiling the program again raises the error.
    """

    __slots__ = ("_make", "is_over")

    def __init__(self, make: Callable[[], None]) -> None:
        self._make = make
        self.is_over = False

    def run(self) -> None:
        with suppress(Exception):
            self._make()
        del self._make  # and with it the program
        self.is_over = True


class _Queue:
    """Compilations in the order in which they come, one at a time: other cores are the program's.

    Each has a new thread, whose options are those of the one that began it. A process that ends
    waits for the one that runs, whose memory the runtime would free, and for no other.
    """

    def __init__(self) -> None:
        self._waiting: deque[Compilation] = deque()
        self._guard = threading.Lock()  # under it nothing is imported
        self._over = threading.Lock()  # held while one runs
        self._is_used = False

    def add(self, compilation: Compilation) -> None:
        if not threads_can_import():
            compilation.run()
            return
        if not self._is_used:
            self._is_used = True
            atexit.register(self._at_exit)
        with self._guard:
            self._waiting.append(compilation)
            begins = self._over.acquire(blocking=False)
        if begins:
            start_new_thread(self._run_next, ())

    def _run_next(self) -> None:
        self._waiting[0].run()
        with self._guard:
            self._waiting.popleft()
            goes_on = bool(self._waiting)
            if not goes_on:
                self._over.release()
        if goes_on:
            start_new_thread(self._run_next, ())

    def _at_exit(self) -> None:
        if fork.forked():  # the threads are those of the process that forked
            return
        with self._guard:
            while len(self._waiting) > 1:
                self._waiting.pop()
        wait_at_exit(self._over, [True], "the compilation of a program")

    def waiting(self) -> list[Compilation]:
        with self._guard:
            return list(self._waiting)


_queue = _Queue()


def waiting() -> list[Compilation]:
    """The compilations that are not over; the first one runs."""
    return _queue.waiting()


def compile_in_background(request: Request) -> Compilation:
    """Start a compilation of the full executable of a request, which its program then remembers; it
    waits for those started before."""
    carry, final = config.carried(), request.final()

    def make() -> None:
        carry()
        executable_for(final)

    result = Compilation(make)
    _queue.add(result)
    return result
