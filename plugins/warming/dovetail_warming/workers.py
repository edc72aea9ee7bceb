"""Threads that compile. What was begun goes on to its end, whatever happens to who waits for it."""

from __future__ import annotations

import os
from _thread import start_new_thread
from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock
from typing import Any

from dovetail_core import config
from dovetail_xla.interrupts import Begun, threads_can_import

from .progress import Progress, Tally

Task = Callable[[], Any]


def default_jobs() -> int:
    """As many threads as there are processors for this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers:
    """Run tasks in threads, in the order in which they come; a context manager.

    A task must raise nothing. Where the block is left by an exception (Ctrl-C), those tasks that
    have begun go on, a process that ends waits for them, and no others begin. The tasks see the
    options that this thread has set for itself.

    Args:
        jobs: how many threads.
        tally: counts the tasks. progress: is drawn from it, by the thread that waits.
    """

    def __init__(self, jobs: int, tally: Tally, progress: Progress) -> None:
        self._jobs, self._tally, self._progress = jobs, tally, progress
        self._tasks: SimpleQueue[tuple[str, Task] | None] = SimpleQueue()
        self._stopped = False
        self._carry = config.carried()
        self._begun: Begun[None] | None = None

    def __enter__(self) -> Workers:
        if threads_can_import():
            self._begun = Begun(self._work_together, "the compilation of programs")
        return self

    def submit(self, name: str, task: Task) -> None:
        """Let a task be run; at once where no thread could do it."""
        if self._begun is None:
            self._run(name, task)
        else:
            self._tasks.put((name, task))
        self._progress.draw(self._tally)

    def __exit__(self, kind: Any, *_: Any) -> None:
        self._stopped = kind is not None
        self._tasks.put(None)
        try:
            if kind is None and self._begun is not None:
                while not self._begun.over(0.1):
                    self._progress.draw(self._tally)
                self._begun.wait()
        except BaseException:
            self._stopped = True
            raise
        finally:
            self._progress.end(self._tally)

    def _work_together(self) -> None:
        others = [Lock() for _ in range(self._jobs - 1)]
        for over in others:
            over.acquire()
            start_new_thread(self._work_and_tell, (over,))
        self._work()
        for over in others:
            over.acquire()

    def _work_and_tell(self, over: Lock) -> None:
        try:
            self._work()
        finally:
            over.release()

    def _work(self) -> None:
        self._carry()
        while (result := self._tasks.get()) is not None:
            if not self._stopped:
                self._run(*result)
        self._tasks.put(None)  # for the next one

    def _run(self, name: str, task: Task) -> None:
        with self._tally.counting(name):
            task()
