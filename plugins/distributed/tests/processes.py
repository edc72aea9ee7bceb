"""Real processes on the loopback address."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dovetail_distributed.addresses import reserve

PROGRAMS = Path(__file__).with_name("programs")


@dataclass
class Ended:
    """A process that has ended: its exit status, what it wrote, and when it ended."""

    status: int
    text: str
    at: float


Run = Callable[..., list[Ended]]


def run_program(
    folder: Path, name: str, *args: str, count: int = 2, devices: int = 2, during: Any = None,
    port: int = 0, absent: tuple[int, ...] = (), seconds: float = 90.0, **variables: str,
) -> list[Ended]:  # fmt: skip
    """Run a program by several processes; what became of each.

    Args:
        during: called with the processes and the files of what they write. absent: those that are
            not started.
    """
    kept = reserve("127.0.0.1")  # while they run: other tests run beside this one
    files = [folder / f"{name}{i}.txt" for i in range(count)]
    env = {
        **os.environ, "DOVETAIL_NUM_PROCESSES": str(count),
        "DOVETAIL_NUM_CPU_DEVICES": str(devices),
        "DOVETAIL_COORDINATOR_ADDRESS": f"127.0.0.1:{port or kept.getsockname()[1]}",
        "PYTHONUNBUFFERED": "1", **variables,
    }  # fmt: skip
    command = [sys.executable, str(PROGRAMS / f"{name}.py"), *args]
    made: dict[int, subprocess.Popen[bytes]] = {}
    for i in (i for i in range(count) if i not in absent):
        env["DOVETAIL_PROCESS_ID"] = str(i)
        with files[i].open("wb") as file:
            made[i] = subprocess.Popen(command, stdout=file, stderr=file, env=env)
    with kept:
        return _ends(made, files, during, seconds)


def _ends(
    made: dict[int, subprocess.Popen[bytes]], files: list[Path], during: Any, seconds: float
) -> list[Ended]:
    count = len(files)
    until, ended = time.monotonic() + seconds, dict[int, Ended]()
    ended.update({i: Ended(0, "", 0.0) for i in range(count) if i not in made})
    try:
        meanwhile = threading.Thread(target=during or bool, args=(made, files) if during else ())
        meanwhile.start()
        while len(ended) < count and time.monotonic() < until:
            for i, p in made.items():
                if i not in ended and p.poll() is not None:
                    ended[i] = Ended(p.returncode, "", time.time())
            time.sleep(0.01)
        late = [i for i in made if i not in ended]
        meanwhile.join()
    finally:
        for p in made.values():
            if p.poll() is None:
                p.kill()
                p.wait()
    for i in made:
        result = ended.setdefault(i, Ended(-99, "", time.time()))
        result.text = files[i].read_text()
    assert not late, f"after {seconds} s there run {late}: {[ended[i].text for i in made]}"
    return [ended[i] for i in range(count)]


def wait_for(text: str, files: list[Path], seconds: float = 60.0) -> None:
    """Wait until every process has written a text."""
    until = time.monotonic() + seconds
    while not all(f.exists() and text in f.read_text() for f in files):
        assert time.monotonic() < until, [f.read_text() for f in files]
        time.sleep(0.02)


def all_well(ended: list[Ended]) -> None:
    """Every process has ended well."""
    assert [e.status for e in ended] == [0] * len(ended), "\n".join(e.text for e in ended)
