"""The process that compiles, as its parent sees it: started when needed, at most one at a time.

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
from collections import deque
from contextlib import suppress
from typing import Any
from weakref import ref

from dovetail_xla import fork

from .frames import read_frame, write_frame
from .successor import Full

FAILURES = 2
"""After so many ends that it did not come to by itself no process is started any more."""
_MAIN = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from dovetail_tiers.worker import main; main(int(sys.argv[1]))"
)


class Compiler:
    """Makes full executables, one after the other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # never held while anything waits or is imported
        self._loading = threading.Lock()
        self._asked: dict[int, ref[Full]] = {}
        self._count = self._failures = 0
        self._worker: _Worker | None = None
        self._is_closing = False

    @property
    def is_usable(self) -> bool:
        """Tell whether programs can be given to it."""
        return not self._is_closing and self._failures < FAILURES

    def ask(self, full: Full) -> None:
        """Have an executable made; the process is started if there is none."""
        with self._lock:
            self._count += 1
            self._asked[self._count] = ref(full)
            self._begin(self._count)

    def works_on(self, full: Full) -> bool:
        """Tell whether it is the one that is being made."""
        with self._lock:
            alive = (r() for r in self._asked.values())
            return next((f for f in alive if f is not None), None) is full

    @property
    def process(self) -> subprocess.Popen[bytes] | None:
        """The process, if there is one."""
        return None if self._worker is None else self._worker.process

    def _begin(self, number: int) -> None:
        if self._worker is None:
            if self._count == 1:
                atexit.register(self._at_exit, os.getpid())
            self._worker = _Worker(self)
        self._worker.put(number)

    def request(self, number: int) -> tuple[dict[str, Any], bytes] | None:
        """The request to send; None if nobody wants it any more."""
        result = self._asked.get(number)
        full = result() if result is not None else None
        if full is None or full.request is None:
            self._asked.pop(number, None)
            return None
        header, text = full.request
        return {**header, "number": number}, text

    def answer(self, header: dict[str, Any], body: bytes) -> None:
        """Load what was made, and bring it to who waits for it."""
        result = self._asked.get(header["number"])
        full = result() if result is not None else None
        if full is not None:
            loaded, failure = None, ""
            if "error" in header:
                failure = f"to compile it in another process failed, {header['error']}."
            else:
                loaded, failure = self._loaded(full, body)
            full.bring(loaded, failure)
        with self._lock:
            self._asked.pop(header["number"], None)

    def _loaded(self, full: Full, body: bytes) -> tuple[Any, str]:
        with self._loading:
            if self._is_closing:
                return None, "the process ends."
            try:
                return full.load(body), ""
            except Exception as e:
                return None, f"what another process made of it cannot be loaded, {e}."

    def ended(self, status: int, answers: int) -> None:
        """The process has ended: begin another one where there is something to do."""
        with self._lock:
            self._worker = None
            if self._is_closing:
                return
            left = {n: f for n, r in self._asked.items() if (f := r()) is not None}
            if status or (left and not answers):
                self._failures += 1
            if self._failures < FAILURES:
                for number in left:
                    self._begin(number)
                return
            self._asked.clear()
        for full in left.values():
            full.bring(None, f"the process that compiles has ended twice (status {status}).")

    def close(self) -> None:
        """Make nothing any more; the process is ended, and what it has begun is lost."""
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
        """In a forked process: the other one is not its own."""
        self.__init__()
        self._is_closing = True


class _Worker:
    """One process, and the threads that attend to it."""

    def __init__(self, compiler: Compiler) -> None:
        self._numbers = deque[int | None]()
        self._count = threading.Semaphore(0)  # of them; module queue takes longer to import
        self.process: subprocess.Popen[bytes] | None = None
        self._compiler = compiler
        threading.Thread(target=self._write, name="dovetail tiers: asking", daemon=True).start()

    def put(self, number: int | None) -> None:
        """Have a program asked for; None ends that."""
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
        if not self._compiler.is_usable:  # the end began meanwhile
            process.kill()
        threading.Thread(target=self._read, name="dovetail tiers: loading", daemon=True).start()
        assert process.stdin is not None
        try:
            while (number := self._get()) is not None:
                result = self._compiler.request(number)
                if result is not None:
                    write_frame(process.stdin, *result)  # type: ignore[arg-type]
        except OSError:  # it has ended, which the other thread hears
            pass
        with suppress(OSError):
            process.stdin.close()

    def _read(self) -> None:
        assert self.process is not None and self.process.stdout is not None
        answers = 0
        while (result := read_frame(self.process.stdout)) is not None:  # type: ignore[arg-type]
            self._compiler.answer(*result)
            answers += 1
        self.process.stdout.close()
        status = self.process.wait()
        self.put(None)
        self._compiler.ended(status, answers)


def _start() -> subprocess.Popen[bytes]:
    """The process: the same Python and modules; no signal of the terminal reaches it."""
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
