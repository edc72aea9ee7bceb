"""A session of attacks: workers are started, watched and ended, and what they say is counted."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import IO, Any

from . import areas


def area_names() -> list[str]:
    """The areas there are."""
    return sorted(m.name for m in iter_modules(areas.__path__) if not m.name.startswith("_"))


@dataclass
class Failure:
    """An attack that did not go well."""

    area: str
    number: int
    kind: str
    text: str


@dataclass
class Report:
    """What happened in one area."""

    area: str
    tries: Counter[str] = field(default_factory=Counter[str])
    failures: list[Failure] = field(default_factory=list[Failure])
    seconds: float = 0.0
    next: int = 0


class _Worker:
    """A process that makes attacks of an area, and the attack that it is at."""

    def __init__(self, report: Report, seed: int, count: int, limit: float) -> None:
        self.report, self.limit = report, limit
        self.number, self.kind, self.open = report.next, "?", False
        command = [sys.executable, "-X", "faulthandler", "-m", "torture.worker", report.area]
        self.process = subprocess.Popen(
            [*command, str(seed), str(report.next), str(count)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    def run(self, until: float) -> None:
        """Read what it says until it is done, too slow, or the time is over."""
        out: Any = self.process.stdout
        err: Any = self.process.stderr
        said, noise = _Lines(out), _Lines(err)
        with selectors.DefaultSelector() as selector:
            for lines in (said, noise):
                selector.register(lines.file, selectors.EVENT_READ, lines)
            deadline = time.monotonic() + self.limit
            while selector.get_map():
                events = selector.select(max(0.0, deadline - time.monotonic()))
                if not events:
                    self._end(f"not done after {self.limit} s\n{self._stacks(noise)}")
                    return
                for key, _ in events:
                    result = key.data.read()
                    if result is None:
                        selector.unregister(key.fileobj)
                    elif key.data is said and result:
                        for line in result:
                            self._heard(json.loads(line))
                            if not self.open and time.monotonic() > until:
                                self._kill()  # it may have begun the next one
                                return
                        deadline = time.monotonic() + self.limit
        if self.process.wait() or self.open:
            self._end(f"the process ended with status {self.process.returncode}\n{noise.tail()}")

    def _heard(self, facts: dict[str, Any]) -> None:
        if "number" in facts:
            self.number, self.kind, self.open = facts["number"], "?", True
        elif "kind" in facts:
            self.kind = facts["kind"]
        else:
            self._end(facts.get("failure", ""))

    def _end(self, failure: str) -> None:
        self.open = False
        self.report.tries[self.kind] += 1
        self.report.next = self.number + 1
        if failure:
            result = Failure(self.report.area, self.number, self.kind, failure)
            self.report.failures.append(result)

    def _stacks(self, noise: _Lines) -> str:
        """What each thread is at, which the faulthandler of the process prints when it aborts."""
        self.process.send_signal(signal.SIGABRT)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self._kill()
        while noise.read() is not None:
            pass
        return noise.tail()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class _Lines:
    """The whole lines of a pipe, as they come."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self._rest = b""
        self._last: list[bytes] = []

    def read(self) -> list[bytes] | None:
        """The lines that have come; None at the end."""
        result = os.read(self.file.fileno(), 1 << 16)
        if not result:
            return None
        *lines, self._rest = (self._rest + result).split(b"\n")
        self._last = (self._last + lines)[-40:]
        return lines

    def tail(self) -> str:
        return b"\n".join(self._last).decode(errors="replace")


def attack(area: str, seed: int, seconds: float, first: int = 0, count: int = 0) -> Report:
    """Attack an area for some seconds, or ``count`` times."""
    module = import_module(f"torture.areas.{area}")
    report = Report(area, next=first)
    start = time.monotonic()
    while True:
        left = first + count - report.next if count else module.BATCH
        batch = min(module.BATCH, left)
        before = report.next
        worker = _Worker(report, seed, batch, module.LIMIT)
        worker.run(float("inf") if count else start + seconds)
        report.next = max(report.next, before + 1)  # one that dies before it begins
        over = report.next >= first + count if count else time.monotonic() > start + seconds
        if over:
            report.seconds = time.monotonic() - start
            return report
