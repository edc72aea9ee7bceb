"""Interrupts (Ctrl-C) of compilations.

The compiler works on a thread of the runtime's; in Python's main thread the caller waits, looks for
signals, and leaves with KeyboardInterrupt while that thread goes on. If the module was given as
text, the caller owns memory that the thread still reads, and frees it: the process crashes, then or
later. Either

- the module is an `ir.Module`: the compiler keeps one of its own, and nothing is freed. A process
  that ends before the compiler must not free memory that it uses, either; or
- another thread calls the compiler, which then looks for no signals, and the main thread waits for
  that thread. The compilation runs to its end, with all that it needs.

The first needs MLIR's Python modules, 25 ms once in a process, so it is for long programs, which
take longer to compile anyway. The second, 40 us, is for short ones: the process must not end before
them, and they are done soon.
"""

from __future__ import annotations

import _imp
import atexit
import os
import sys
import threading
from _thread import start_new_thread
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Generic, TypeVar

T = TypeVar("T")


def can_be_interrupted() -> bool:
    """Return whether signals interrupt this thread: True for Python's main thread."""
    return threading.get_ident() == threading.main_thread().ident


class StartedCall(Generic[T]):
    """A call in a thread of its own, which goes on if this thread is interrupted while it waits.

    A process that ends before the call waits for it, and prints that it waits for `what`. If other
    threads cannot import modules (:func:`threads_can_import`), the call runs in this thread.
    """

    __slots__ = ("_call", "_errors", "_over", "_results", "_started", "_what")

    def __init__(self, call: Callable[[], T], what: str) -> None:
        self._call, self._what = call, what
        self._results: list[T] = []
        self._errors: list[BaseException] = []
        self._started: list[bool] = []
        self._over = threading.Lock()
        self._over.acquire()
        if not threads_can_import():
            self._run()
            return
        atexit.register(self._at_exit)
        start_new_thread(self._run, ())  # threading.Thread's handshake would take as long again

    def _run(self) -> None:
        self._started.append(True)
        try:
            self._results.append(self._call())
        except BaseException as e:
            self._errors.append(e)
        finally:
            self._over.release()

    def _at_exit(self) -> None:
        if not self._results and not self._errors:
            wait_at_exit(self._over, self._started, self._what)

    def over(self, timeout: float) -> bool:
        """Return whether the call ends within so many seconds; then `wait` returns at once."""
        if not self._over.acquire(timeout=timeout):
            return False
        self._over.release()
        return True

    def wait(self) -> T:
        """Wait for the call; return or raise what it does. To be called once."""
        _wait(self._over)
        atexit.unregister(self._at_exit)  # not after an interrupt
        if self._errors:
            raise self._errors.pop()
        return self._results[0]


def run_to_the_end(call: Callable[[], T], what: str) -> T:
    """`call()` in a thread that goes on if this one is interrupted (see :class:`StartedCall`)."""
    if not threads_can_import():
        return call()
    return StartedCall(call, what).wait()


def _wait(lock: threading.Lock) -> None:
    """Wait until the lock is released; a signal ends the wait.

    A signal that comes after Python has looked for signals and before the thread sleeps does not
    wake it, so this looks again at intervals.
    """
    while not lock.acquire(timeout=0.1):
        pass


def threads_can_import() -> bool:
    """Return whether a thread that is started now can import modules.

    None can while this thread holds Python's global import lock, as in finalizers and finders.
    Importlib takes it for some instructions; an interrupt between the first one and the `try` after
    it leaves it taken for good. This thread may take it again; every other one waits for ever. So
    the lock is released here if importlib is not running in this thread.
    """
    while _imp.lock_held():
        frame = sys._getframe()  # pyright: ignore[reportPrivateUsage]
        if _is_under(frame, ("_get_module_lock", "cb", "_find_spec")):
            return False
        try:
            _imp.release_lock()
        except RuntimeError:  # another thread has it, for some instructions
            break
    return True


def _is_under(frame: FrameType | None, functions: tuple[str, ...]) -> bool:
    """Return whether one of these functions of importlib is on the stack."""
    while frame is not None:
        code = frame.f_code
        if code.co_name in functions and "importlib" in code.co_filename:
            return True
        frame = frame.f_back
    return False


def wait_at_exit(over: threading.Lock, started: Sequence[bool], what: str) -> None:
    """Wait until the lock is released, if the call has ``started``.

    Another Ctrl-C ends the process at once, without Python's finalization.
    """
    try:
        if over.acquire(timeout=1) or not started:
            return
        print(f"waiting for {what} to end; Ctrl-C ends the process at once", file=sys.stderr)
        _wait(over)
    except KeyboardInterrupt:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(130)


def leave_at_once(call: Callable[[], T]) -> T:
    """`call()`, which an interrupt may leave while threads of C++ still work for it."""
    try:
        return call()
    except (RuntimeError, TypeError, ValueError):  # the compiler's own
        raise
    except BaseException:
        _end_without_destructors()
        raise


def _end_without_destructors() -> None:
    """Let the process end without the destructors of C++'s globals, which those threads use.

    The C library's `exit` calls what was registered last first, with the status: here `_exit`.
    """
    import ctypes

    library = ctypes.CDLL(None)
    if hasattr(library, "on_exit"):  # glibc's
        library.on_exit(library._exit, None)
