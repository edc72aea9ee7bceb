"""The runtime's compiler and Ctrl-C.

The compiler works on a thread of the runtime's; in Python's main thread the caller looks for
signals meanwhile, and leaves with KeyboardInterrupt while that thread goes on. Of a module that was
given as text the caller owns what the thread still reads, and frees it: the process crashes, then
or later. Either

- the module is an `ir.Module`: the compiler keeps one of its own, and nothing is freed; or
- another thread calls the compiler, which then looks for no signals, and the main thread waits for
  that thread. What was begun goes on to its end, with all that it needs.

The first needs MLIR's Python modules, 25 ms once in a process, so it is for long programs, which
take longer to compile anyway. The second, 40 us, is for short ones: they are done soon, which
matters as the process must not end before them.
"""

from __future__ import annotations

import atexit
import threading
from _thread import start_new_thread
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def can_be_interrupted() -> bool:
    """Whether signals interrupt this thread: Python's main one alone."""
    return threading.get_ident() == threading.main_thread().ident


def run_to_the_end(call: Callable[[], T]) -> T:
    """`call()`, in a thread of its own that goes on if this one is interrupted while it waits."""
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

    def at_exit() -> None:  # the process would crash
        if not found and not errors:
            over.acquire(timeout=600 if begun else 1)

    over.acquire()
    atexit.register(at_exit)
    start_new_thread(run, ())  # the handshake of threading.Thread would take as long again
    over.acquire()
    atexit.unregister(at_exit)  # not after an interrupt
    if errors:
        raise errors.pop()
    return found[0]
