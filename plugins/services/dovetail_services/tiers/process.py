"""The process that compiles in full, as its parent sees it: started when needed, one at a time.

Two threads of the parent attend to it: one starts it and writes to it, one reads what it answers
and loads it. Both are daemons, which wait in Python's own code, where the end of Python may find
them; only while one loads, which is in the runtime's code, the end waits for it.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import ref

from dovetail_xla import fork

from .worker import read_frame, write_frame

_warned: list[str] = []


class FullExecutable:
    """A ``Successor``: requested when it is made, and delivered by another thread.

    Args:
        request: the header and the body of the request to the process; dropped when answered.
        load: makes an executable of bytes.
        compile: compiles the program in this process, with a profile.
        is_next: tells whether the process works on an executable now.
        is_compiled: whether the provisional executable is compiled, so that the program may go on
            in it.
    """

    def __init__(
        self,
        name: str,
        request: tuple[dict[str, Any], bytes],
        load: Callable[[bytes], Any],
        compile: Callable[[str], Any],
        is_next: Callable[[FullExecutable], bool],
        is_compiled: bool = True,
    ) -> None:
        self.name = name
        self.request: tuple[dict[str, Any], bytes] | None = request
        self.load, self._compile, self._is_next = load, compile, is_next
        self._is_compiled = is_compiled
        self._loaded: Any = None
        self._failure = ""
        self._is_over = threading.Event()

    @property
    def is_given_up(self) -> bool:
        """Tell whether the process will not make it."""
        return bool(self._failure)

    def deliver(self, loaded: Any, failure: str = "") -> None:
        """Set the executable, or the reason why there will be none."""
        self._loaded, self._failure, self.request = loaded, failure, None
        self._is_over.set()

    def take(self) -> Any | None:
        """Return the runtime's executable if it is there.

        If the process has failed, the program is compiled here where its provisional form is not
        compiled; else it goes on in that form, and a warning says so, once in a process.
        """
        if self._failure and not self._is_compiled:
            return self.wait()
        if self._failure and not _warned:
            _warned.append(self._failure)
            warnings.warn(
                f"{self.name} goes on in its quickly compiled form, which is slower: "
                f"{self._failure} jit(f).lower(...).compile() compiles in this process, and the "
                "option tiered='off' all programs.",
                RuntimeWarning,
                stacklevel=8,
            )
        return self._loaded

    def wait(self) -> Any:
        """Return the runtime's executable; compiled here unless the process works on it now."""
        if not fork.forked() and self._is_next(self):
            self._is_over.wait()
        return self._compile("default") if self._loaded is None else self._loaded


FAILURES = 2
"""After so many ends by a failure no further process is started."""
_MAIN = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from dovetail_services.tiers.worker import main; main(int(sys.argv[1]))"
)


class Compiler:
    """Has the process make full executables, one after the other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # never held while anything waits or is imported
        self._loading = threading.Lock()
        self._requested: dict[int, ref[FullExecutable]] = {}
        self._count = self._failures = 0
        self._worker: _Worker | None = None
        self._is_closing = False

    @property
    def is_usable(self) -> bool:
        """Tell whether programs can be given to it."""
        return not self._is_closing and self._failures < FAILURES

    def submit(self, full: FullExecutable) -> None:
        """Have an executable made; starts the process if there is none."""
        with self._lock:
            self._count += 1
            self._requested[self._count] = ref(full)
            self._start_on(self._count)

    def works_on(self, full: FullExecutable) -> bool:
        """Tell whether an executable is the one that is being made."""
        with self._lock:
            alive = (r() for r in self._requested.values())
            return next((f for f in alive if f is not None), None) is full

    @property
    def process(self) -> subprocess.Popen[bytes] | None:
        """The process; None if there is none."""
        return None if self._worker is None else self._worker.process

    def _start_on(self, number: int) -> None:
        if self._worker is None:
            if self._count == 1:
                atexit.register(self._at_exit, os.getpid())
            self._worker = _Worker(self)
        self._worker.put(number)

    def request(self, number: int) -> tuple[dict[str, Any], bytes] | None:
        """Return the request to send; None if its executable is not wanted any more."""
        result = self._requested.get(number)
        full = result() if result is not None else None
        if full is None or full.request is None:
            self._requested.pop(number, None)
            return None
        header, text = full.request
        return {**header, "number": number}, text

    def receive(self, header: dict[str, Any], body: bytes) -> None:
        """Load an executable that the process made, and deliver it."""
        result = self._requested.get(header["number"])
        full = result() if result is not None else None
        if full is not None:
            loaded, failure = None, ""
            if "error" in header:
                failure = f"to compile it in another process failed, {header['error']}."
            else:
                loaded, failure = self._loaded(full, body)
            full.deliver(loaded, failure)
        with self._lock:
            self._requested.pop(header["number"], None)

    def _loaded(self, full: FullExecutable, body: bytes) -> tuple[Any, str]:
        with self._loading:
            if self._is_closing:
                return None, "the process ends."
            try:
                return full.load(body), ""
            except Exception as e:
                return None, f"what another process made of it cannot be loaded, {e}."

    def ended(self, status: int, answers: int) -> None:
        """Start another process after one has ended, if there are requests left."""
        with self._lock:
            self._worker = None
            if self._is_closing:
                return
            left = {n: f for n, r in self._requested.items() if (f := r()) is not None}
            if status or (left and not answers):
                self._failures += 1
            if self._failures < FAILURES:
                for number in left:
                    self._start_on(number)
                return
            self._requested.clear()
        for full in left.values():
            full.deliver(None, f"the process that compiles has ended twice (status {status}).")

    def close(self) -> None:
        """Stop for good: end the process; what it works on is lost."""
        self._is_closing = True
        worker = self._worker
        if worker is not None and worker.process is not None:
            worker.process.kill()
            worker.process.wait()
        with self._loading:
            pass

    def _at_exit(self, owner: int) -> None:
        if os.getpid() == owner:  # else forked from it
            self.close()

    def forget(self) -> None:
        """Stop in a forked process, to which the other one does not belong."""
        self.__init__()
        self._is_closing = True


class _Worker:
    """One process, and the threads that attend to it."""

    def __init__(self, compiler: Compiler) -> None:
        self._numbers = deque[int | None]()
        self._count = threading.Semaphore(0)  # of them; module queue takes longer to import
        self.process: subprocess.Popen[bytes] | None = None
        self._compiler = compiler
        threading.Thread(target=self._write, name="dovetail tiers: sending", daemon=True).start()

    def put(self, number: int | None) -> None:
        """Have a request sent; None ends the thread that sends them."""
        self._numbers.append(number)
        self._count.release()

    def _get(self) -> int | None:
        self._count.acquire()
        return self._numbers.popleft()

    def _write(self) -> None:
        try:
            self.process = process = _start()
        except OSError:
            self._compiler.ended(-1, 0)
            return
        if not self._compiler.is_usable:  # this process has begun to end
            process.kill()
        threading.Thread(target=self._read, name="dovetail tiers: loading", daemon=True).start()
        assert process.stdin is not None
        try:
            while (number := self._get()) is not None:
                result = self._compiler.request(number)
                if result is not None:
                    write_frame(process.stdin, *result)  # type: ignore[arg-type]
        except OSError:  # it has ended, of which the other thread learns
            pass
        with suppress(OSError):
            process.stdin.close()

    def _read(self) -> None:
        assert self.process is not None and self.process.stdout is not None
        answers = 0
        while (result := read_frame(self.process.stdout)) is not None:  # type: ignore[arg-type]
            self._compiler.receive(*result)
            answers += 1
        self.process.stdout.close()
        status = self.process.wait()
        self.put(None)
        self._compiler.ended(status, answers)


def _start() -> subprocess.Popen[bytes]:
    """Start the process: the same Python and modules; no signal of the terminal reaches it."""
    environment = {k: v for k, v in os.environ.items() if k != "DOVETAIL_AS_JAX"}
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _MAIN, str(os.getpid()), *filter(None, sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )


compiler = Compiler()
fork.in_child(compiler.forget)
