"""Processes of one program: their start, output and end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from secrets import token_hex
from typing import Any, BinaryIO

from ..addresses import reserve
from ..launchers import COORDINATOR, JOB, LAUNCHER, PROCESS, PROCESSES
from ..watch.ending import STATUS

_HOST = "127.0.0.1"
_ENDING = [getattr(signal, s) for s in ("SIGTERM", "SIGHUP") if hasattr(signal, s)]
_CLEAR = b"\x1b[K"
"""The terminal's sequence that clears a line, for output over a longer one."""


class Launch:
    """Processes that run one command, each with those that it starts in a group of its own.

    Args:
        command: the command of each of them. count: their number.
        devices: the number of CPU devices of each; None leaves that to the program.
        port: the port of process 0. grace: the seconds that processes have to end.
    """

    def __init__(
        self,
        command: Sequence[str],
        count: int,
        devices: int | None = None,
        port: int | None = None,
        grace: float = 5.0,
    ) -> None:
        self.command, self.count, self.devices, self.grace = command, count, devices, grace
        self.port = port
        self._job = token_hex(8)
        self._writing = threading.Lock()
        self._over_another = False
        self._children: list[subprocess.Popen[bytes]] = []

    def run(self) -> int:
        """Run them to the end; returns the exit status of the first that failed, or 0."""
        with reserve(_HOST) as reserved:  # to the end, or another job might get the port
            self.port = self.port or reserved.getsockname()[1]
            return self._run()

    def _run(self) -> int:
        before = {s: signal.getsignal(s) for s in _ENDING}
        for s in (s for s in _ENDING if before[s] is not signal.SIG_IGN):  # as nohup has it
            signal.signal(s, _interrupted)
        readers: list[threading.Thread] = []
        try:
            for index in range(self.count):
                self._children.append(self._start(index))
            for index, child in enumerate(self._children):
                args = index, child.stdout
                reader = threading.Thread(target=self._read, args=args, daemon=True)
                reader.start()
                readers.append(reader)
            return self._wait()
        except KeyboardInterrupt as e:
            how: signal.Signals = e.args[0] if e.args else signal.SIGINT
            self._say(f"interrupted; ending {self.count} processes")
            with suppress(KeyboardInterrupt):  # again
                self._ask(how, self.grace)
            return _status(-how)
        finally:
            self._ask(signal.SIGTERM, min(self.grace, 2.0))
            self._kill()
            for reader in readers:
                reader.join(1)
            for s, handler in before.items():
                signal.signal(s, handler)

    def _start(self, index: int) -> subprocess.Popen[bytes]:
        env = dict(os.environ)
        env[COORDINATOR] = f"{_HOST}:{self.port}"
        env[PROCESSES], env[PROCESS] = str(self.count), str(index)
        env[LAUNCHER] = str(os.getpid())
        env[JOB] = self._job
        if self.devices is not None:
            env["DOVETAIL_NUM_CPU_DEVICES"] = str(self.devices)
        return subprocess.Popen(
            self.command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
        )

    def _read(self, index: int, stream: BinaryIO | Any) -> None:
        start = f"[{index}] ".encode()
        # A line ends at a carriage return, too: so that progress is seen while it is made.
        for line in TextIOWrapper(stream, "latin-1", newline=""):
            if line != "\r":
                end = b"" if line[-1] in "\r\n" else b"\n"
                self._write(start + line.encode("latin-1") + end)

    def _write(self, line: bytes) -> None:
        with self._writing:
            try:
                if self._over_another and sys.stdout.isatty():
                    line = _CLEAR + line
                self._over_another = line.endswith(b"\r")
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
            except (OSError, ValueError):  # nobody reads any more
                pass

    def _say(self, text: str) -> None:
        sys.stdout.flush()
        print(f"dovetail launch: {text}", file=sys.stderr, flush=True)

    def _wait(self) -> int:
        """Wait for the end of all, or for a failure and the processes that end because of it."""
        until = culprit = None
        while True:
            ended = {i: c.returncode for i, c in enumerate(self._children) if c.poll() is not None}
            failed = [i for i, status in ended.items() if status]
            # Those that end because of another one may be faster than that one.
            culprits = [i for i in failed if ended[i] != STATUS]
            if culprits and culprit is None:
                culprit = culprits[0]
                self._say(f"process {culprit} {_spell(ended[culprit])}")
            if failed and until is None:
                until = time.monotonic() + self.grace
            late = until is not None and time.monotonic() > until
            if late and len(ended) < self.count:
                still = ", ".join(str(i) for i in range(self.count) if i not in ended)
                self._say(f"after {self.grace:g} s there still run: {still}; ending them")
            if late or len(ended) == self.count:
                first = culprit if culprit is not None else (failed or [0])[0]
                return _status(ended[first]) if failed else 0
            time.sleep(0.02)

    def _ask(self, how: signal.Signals, seconds: float) -> None:
        """Send running processes a signal, and wait for their end."""
        running = [c for c in self._children if c.poll() is None]
        for child in running:
            _tell(child, how)
        until = time.monotonic() + seconds
        for child in running:
            with suppress(subprocess.TimeoutExpired):
                child.wait(max(until - time.monotonic(), 0))

    def _kill(self) -> None:
        """Kill the processes that still run, and the groups of those that failed."""
        for child in self._children:
            if child.poll() != 0:
                _tell(child, signal.SIGKILL)
            child.wait()


def _interrupted(number: int, _: Any) -> None:
    raise KeyboardInterrupt(signal.Signals(number))


def _tell(child: subprocess.Popen[bytes], how: signal.Signals) -> None:
    """Send a signal to a process and those that it has started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, how)


def _spell(status: int) -> str:
    if status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        return f"was ended by {name}; ending the others"
    return f"failed with exit status {status}; ending the others"


def _status(returncode: int) -> int:
    """The exit status of a process as shells report it."""
    return 128 - returncode if returncode < 0 else returncode
