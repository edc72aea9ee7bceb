"""The runtime's compiler and Ctrl-C.

The compiler works on a thread of the runtime's; in Python's main thread the caller looks for
signals meanwhile, and leaves with KeyboardInterrupt while that thread goes on. Of a module that was
given as text the caller owns what the thread still reads, and frees it: the process crashes, then
or later. Either

- the module is an `ir.Module`: the compiler keeps one of its own, and nothing is freed. A process
  that ends before the compiler must not free what that uses, either; or
- another thread calls the compiler, which then looks for no signals, and the main thread waits for
  that thread. What was begun goes on to its end, with all that it needs.

The first needs MLIR's Python modules, 25 ms once in a process, so it is for long programs, which
take longer to compile anyway. The second, 40 us, is for short ones: they are done soon, which
matters as the process must not end before them.
"""

from __future__ import annotations

import _imp
import atexit
import os
import sys
import threading
from _thread import start_new_thread
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

T = TypeVar("T")


def can_be_interrupted() -> bool:
    """Whether signals interrupt this thread: Python's main one alone."""
    return threading.get_ident() == threading.main_thread().ident


def run_to_the_end(call: Callable[[], T], what: str) -> T:
    """`call()`, in a thread of its own that goes on if this one is interrupted while it waits.

    A process that ends meanwhile waits for it, and says that it waits for `what`.
    """
    if _has_import_lock():
        return call()  # another thread could import nothing
    found: list[T] = []
    errors: list[BaseException] = []
    begun: list[bool] = []
    over = threading.Lock()

    def run() -> None:
        begun.append(True)
        try:
            found.append(call())
        except BaseException as e:
            errors.append(e)
        finally:
            over.release()

    def at_exit() -> None:
        if not found and not errors:
            _wait_at_exit(over, begun, what)

    over.acquire()
    atexit.register(at_exit)
    start_new_thread(run, ())  # the handshake of threading.Thread would take as long again
    _wait(over)
    atexit.unregister(at_exit)  # not after an interrupt
    if errors:
        raise errors.pop()
    return found[0]


def _wait(lock: threading.Lock) -> None:
    """Until the lock is released; a signal ends the wait.

    One that comes after Python has looked for signals and before the thread sleeps wakes nobody,
    so this looks again.
    """
    while not lock.acquire(timeout=0.1):
        pass


def _has_import_lock() -> bool:
    """Whether this thread works under Python's global import lock: finalizers and finders may.

    Importlib takes it for some instructions; an interrupt between the first and the `try` after it
    leaves it taken for good. This thread may take it again; every other one waits for ever. So it
    is given back where importlib is not at work.
    """
    while _imp.lock_held():
        frame = sys._getframe()  # pyright: ignore[reportPrivateUsage]
        if _is_under(frame, ("_get_module_lock", "cb", "_find_spec")):
            return True
        try:
            _imp.release_lock()
        except RuntimeError:  # another thread has it, for some instructions
            break
    return False


def _is_under(frame: FrameType | None, functions: tuple[str, ...]) -> bool:
    """Whether one of these functions of importlib has called, from however far."""
    while frame is not None:
        code = frame.f_code
        if code.co_name in functions and "importlib" in code.co_filename:
            return True
        frame = frame.f_back
    return False


def _wait_at_exit(over: threading.Lock, begun: list[bool], what: str) -> None:
    """Wait for what goes on; another Ctrl-C ends the process as it is, unlike Python's own end."""
    try:
        if over.acquire(timeout=1) or not begun:
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
