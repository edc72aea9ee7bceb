"""Ctrl-C while the runtime's compiler works: what was begun goes on, and nothing crashes."""

from __future__ import annotations

import _imp
import ctypes
import signal
import subprocess
import sys
import threading
from typing import Any

import pytest

from dovetail_xla import execution, interrupts, mlir

EMPTY = "module { func.func public @main() { return } }"
INTERRUPTED = """
import os, signal, sys, time
from dovetail_xla.interrupts import run_to_the_end
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started us may ignore it

def call():
    os.kill(os.getpid(), signal.SIGINT)
    {rest}

try:
    run_to_the_end(call, "the call")
except KeyboardInterrupt:
    print("interrupted")
"""


def _ends(rest: str) -> subprocess.CompletedProcess[str]:
    code = INTERRUPTED.format(rest=rest)
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )


def test_a_process_does_not_end_before_what_was_interrupted():
    done = _ends("time.sleep(0.3); os.write(1, b'called\\n')")
    assert (done.returncode, done.stdout) == (0, "interrupted\ncalled\n")
    waits = "waiting for the call to end; Ctrl-C ends the process at once\n"
    assert done.stderr in ("", waits)  # which a busy machine may take a second to come to


def test_a_second_interrupt_ends_the_process():
    done = _ends("time.sleep(1.5); os.kill(os.getpid(), signal.SIGINT); time.sleep(60)")
    assert done.returncode == 130
    assert done.stdout == "interrupted\n"
    assert done.stderr == "waiting for the call to end; Ctrl-C ends the process at once\n"


def test_no_wait_is_left_to_signals_alone():
    """One that comes just before the thread sleeps wakes nobody."""
    asked: list[float] = []

    class Lock:
        def acquire(self, timeout: float = -1) -> bool:
            asked.append(timeout)
            return len(asked) == 3

    interrupts._wait(Lock())  # type: ignore[arg-type]
    assert len(asked) == 3
    assert all(0 < timeout <= 0.1 for timeout in asked)


def test_results_and_errors_of_the_call_are_its_callers():
    assert interrupts.run_to_the_end(lambda: 3, "a number") == 3
    with pytest.raises(ZeroDivisionError):
        interrupts.run_to_the_end(lambda: 1 // 0, "a division")


def test_what_was_begun_can_be_waited_for_by_and_by():
    go = threading.Event()
    begun = interrupts.StartedCall(lambda: (go.wait(), threading.get_ident())[1], "an event")
    assert not begun.over(0.01)
    go.set()
    assert begun.over(10) and begun.over(10)
    assert begun.wait() != threading.get_ident()


def test_an_import_lock_that_an_interrupt_left_taken_is_given_back():
    held = """
import _imp, importlib
from dovetail_xla.interrupts import run_to_the_end
_imp.acquire_lock()  # as an interrupt in the middle of importlib leaves it
print(run_to_the_end(lambda: importlib.import_module("colorsys"), "an import").__name__)
print(_imp.lock_held())
"""
    done = subprocess.run(
        [sys.executable, "-c", held], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "colorsys\nFalse\n", "")


def test_what_works_under_the_import_lock_keeps_it():
    """A finalizer or a finder, in which the runtime is imported: no other thread could do that."""
    source = """
def _find_spec():
    _imp.acquire_lock()
    try:
        return run_to_the_end(threading.get_ident, "a number")
    finally:
        _imp.release_lock()  # raises if it is not held
"""
    scope: dict[str, Any] = {"_imp": _imp, "threading": threading}
    scope["run_to_the_end"] = interrupts.run_to_the_end
    exec(compile(source, "<frozen importlib._bootstrap>", "exec"), scope)
    assert scope["_find_spec"]() == threading.get_ident()


def test_the_main_thread_never_gives_the_compiler_text():
    class Client:
        def compile_and_load(self, program: object, *_: object) -> tuple[type, bool]:
            return type(program), threading.get_ident() == own

    def compiled(text: str) -> object:
        return execution.compile(Client(), text, None, None)  # type: ignore[arg-type]

    own = threading.get_ident()
    assert compiled(EMPTY) == (str, False)
    module = type(mlir.parse(EMPTY))
    assert compiled(EMPTY + " " * execution.SHORT) == (module, True)


LEFT = """
import ctypes, sys
from dovetail_xla.interrupts import leave_at_once
library = ctypes.CDLL(None)
library.on_exit(library.abort, None)  # in place of a destructor of C++

def call():
    raise {error}

try:
    leave_at_once(call)
except {error}:
    sys.exit(7)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "on_exit"), reason="needs glibc's on_exit")
@pytest.mark.parametrize(
    ("error", "status"), [("KeyboardInterrupt", 7), ("ValueError", -signal.SIGABRT)]
)
def test_a_process_ends_without_destructors_after_an_interrupt_of_the_compiler(error, status):
    command = [sys.executable, "-c", LEFT.format(error=error)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == status
