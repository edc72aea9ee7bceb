"""The process that compiles for another one: what runs in it."""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from contextlib import suppress
from typing import Any, BinaryIO

from dovetail_core import config
from dovetail_xla import execution, lapack

from .frames import read_frame, write_frame

IDLE = 30.0
"""Seconds without work after which the process ends: another one is started when there is more."""
NICENESS = 5
"""Lower than its parent's priority. At the lowest one it would hardly run beside a parent that uses
all cores, whose own program would be the slow one for as long."""
_PARENT = 1.0
"""Every so many seconds it looks whether its parent lives."""


def main(parent: int) -> None:
    """Compile what is asked for on standard input, and answer on standard output."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    os.nice(NICENESS)
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, requests), daemon=True).start()
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    while True:
        try:
            header, text = requests.get(timeout=IDLE)
        except queue.Empty:
            os._exit(0)
        answer, body = _answer(header, text)
        try:
            write_frame(answers, answer, body)
        except OSError:
            os._exit(0)


def _read(file: BinaryIO, requests: queue.SimpleQueue[Any]) -> None:
    """Hand on what the parent writes; the process ends at once when that ends."""
    while (result := read_frame(file)) is not None:
        requests.put(result)
    os._exit(0)


def _watch(parent: int) -> None:
    """End with the parent, though a process that it forked may still hold the other end."""
    while os.getppid() == parent:
        time.sleep(_PARENT)
    os._exit(0)


def _answer(header: dict[str, Any], text: bytes) -> tuple[dict[str, Any], bytes]:
    number, start = header["number"], time.perf_counter()
    try:
        body = _compiled(header, text.decode())
    except Exception as e:
        return {"number": number, "error": f"{type(e).__name__}: {e}"}, b""
    return {"number": number, "seconds": time.perf_counter() - start}, body


def _compiled(header: dict[str, Any], text: str) -> bytes:
    """The executable as bytes; it is in the cache on disk, too, if there is one."""
    from dovetail_backends import LoweredModule, devices
    from dovetail_jit import compile_with_cache

    for name, value in header["settings"].items():
        config.update(name, value)
    device = next(d for d in devices("cpu") if d.id == header["device"])
    lapack.register()
    _use_one_core()
    module = LoweredModule(text, header["name"], "cpu", (), (), (), (), ())
    loaded, _ = compile_with_cache(module, device, header["options"])
    return execution.serialize(device.client, loaded)


def _use_one_core() -> None:
    """Let the threads that help this one share one core, on which this one seldom needs to be.

    It waits while they work. XLA divides loops among as many cores as the thread that asks it may
    use, and the program is to be what the parent itself would have made of it.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    core = {max(os.sched_getaffinity(0))}
    with suppress(OSError):
        for thread in os.listdir("/proc/self/task"):
            if int(thread) != os.getpid():
                with suppress(OSError):  # it has ended
                    os.sched_setaffinity(int(thread), core)
