"""Threads that compile, and the display of their progress on a terminal.

A compilation that has started goes on to its end, whatever happens to the thread that waits for it.
The display is drawn by rich if that is installed.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from _thread import start_new_thread
from collections.abc import Callable, Generator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Lock
from typing import Any, Protocol

from dovetail_core import config
from dovetail_xla.interrupts import StartedCall, threads_can_import

from .options import compile_progress

_DELAY = 0.5
"""Seconds before anything is shown."""


class Tally:
    """The number of ``total`` programs that are done, and the names of those that are being
    compiled."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done: list[str] = []
        self.running: list[str] = []
        self._start = time.perf_counter()
        self._lock = threading.Lock()

    @property
    def seconds(self) -> float:
        """The time since it began."""
        return time.perf_counter() - self._start

    @contextmanager
    def counting(self, name: str) -> Generator[None, None, None]:
        """While one is being compiled."""
        with self._lock:
            self.running.append(name)
        try:
            yield
        finally:
            with self._lock:
                self.running.remove(name)
                self.done.append(name)

    def names(self) -> str:
        """Those that are being compiled."""
        with self._lock:
            return ", ".join(self.running)


class Progress(Protocol):
    """Shows a tally; nothing, in this class."""

    def draw(self, tally: Tally) -> None:
        """Show it as it is now."""

    def end(self, tally: Tally) -> None:
        """Show nothing any more."""


class Silent(Progress):
    """Shows nothing."""


class Lines(Progress):
    """A line for each program that is done, for what is no terminal."""

    def __init__(self, file: Any) -> None:
        self._file, self._shown = file, 0

    def draw(self, tally: Tally) -> None:
        """The lines that are new."""
        for name in tally.done[self._shown :]:
            self._shown += 1
            line = f"compiled {self._shown} of {tally.total} after {tally.seconds:.1f} s: {name}"
            print(line, file=self._file, flush=True)

    def end(self, tally: Tally) -> None:
        """The last lines."""
        self.draw(tally)


class Bar(Progress):
    """One line of a terminal, written again and again, and removed at the end."""

    def __init__(self, file: Any, width: int) -> None:
        self._file, self._width, self._drawn = file, width, False

    def draw(self, tally: Tally) -> None:
        """The line as it is now."""
        if tally.seconds < _DELAY:
            return
        done, total = len(tally.done), tally.total
        bar = "#" * (20 * done // max(total, 1))
        text = f"compiling [{bar:.<20}] {done}/{total} {tally.seconds:.0f} s {tally.names()}"
        self._file.write(f"\r{text[: self._width - 1]}\x1b[K")
        self._file.flush()
        self._drawn = True

    def end(self, tally: Tally) -> None:
        """Remove the line."""
        if self._drawn:
            self._file.write("\r\x1b[K")
            self._file.flush()


class Rich(Progress):
    """The same by rich; ``make`` makes one of its progress displays."""

    def __init__(self, make: Any) -> None:
        self._make, self._shown, self._task = make, None, 0

    def draw(self, tally: Tally) -> None:
        """The display as it is now."""
        if self._shown is None:
            if tally.seconds < _DELAY:
                return
            self._shown = self._make()
            self._shown.start()
            self._task = self._shown.add_task("compiling", total=tally.total, names="")
        self._shown.update(self._task, completed=len(tally.done), names=tally.names())
        self._shown.refresh()

    def end(self, tally: Tally) -> None:
        """Remove the display."""
        if self._shown is not None:
            self._shown.stop()
            self._shown = None


def progress_of(requested: bool | None) -> Progress:
    """The display of the progress: by default on a terminal only; on any file if ``requested``."""
    file = sys.stderr
    if file is None or requested is False or (requested is None and not compile_progress.value):  # pyright: ignore[reportUnnecessaryComparison]
        return Silent()
    if not file.isatty():
        return Lines(file) if requested else Silent()
    return _rich(file) or Bar(file, _width(file))


def _width(file: Any) -> int:
    import os

    try:
        return os.get_terminal_size(file.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _rich(file: Any) -> Progress | None:
    try:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress as Display,
            TextColumn,
            TimeElapsedColumn,
        )
    except ImportError:
        return None

    def make() -> Any:
        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TimeElapsedColumn(), TextColumn("{task.fields[names]}", markup=False),
        )  # fmt: skip
        console = Console(file=file)
        return Display(*columns, console=console, transient=True, auto_refresh=False)

    return Rich(make)


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
        self._started: StartedCall[None] | None = None

    def __enter__(self) -> Workers:
        if threads_can_import():
            self._started = StartedCall(self._work_together, "the compilation of programs")
        return self

    def submit(self, name: str, task: Task) -> None:
        """Let a task be run; at once where no thread could do it."""
        if self._started is None:
            self._run(name, task)
        else:
            self._tasks.put((name, task))
        self._progress.draw(self._tally)

    def __exit__(self, kind: Any, *_: Any) -> None:
        self._stopped = kind is not None
        self._tasks.put(None)
        try:
            if kind is None and self._started is not None:
                while not self._started.over(0.1):
                    self._progress.draw(self._tally)
                self._started.wait()
        except BaseException:
            self._stopped = True
            raise
        finally:
            self._progress.end(self._tally)

    def _work_together(self) -> None:
        others = [Lock() for _ in range(self._jobs - 1)]
        for over in others:
            over.acquire()
            start_new_thread(self._work_and_release, (over,))
        self._work()
        for over in others:
            over.acquire()

    def _work_and_release(self, over: Lock) -> None:
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
