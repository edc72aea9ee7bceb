"""The process that compiles for another one, and the frames by which both communicate.

A frame is a JSON header and bytes. The parent imports this module for them, so what only the
process needs is imported where it is used.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from dovetail_core import config

if TYPE_CHECKING:
    from queue import SimpleQueue

IDLE = 30.0
"""Seconds without work after which the process ends: another one is started when there is more."""
NICENESS = 5
"""Lower than its parent's priority. At the lowest one it would hardly run beside a parent that uses
all cores, whose own program would be the slow one for as long."""
_PARENT = 1.0
"""Every so many seconds it looks whether its parent lives."""
_LENGTHS = struct.Struct("<II")


def write_frame(file: BinaryIO, header: Mapping[str, Any], body: bytes = b"") -> None:
    """Write a frame. OSError if the reader has closed the file."""
    text = json.dumps(header).encode()
    file.write(b"".join((_LENGTHS.pack(len(text), len(body)), text, body)))
    file.flush()


def read_frame(file: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """Return the next frame; None if the writer has ended, within a frame, too."""
    head = file.read(_LENGTHS.size)
    if len(head) < _LENGTHS.size:
        return None
    header, body = _LENGTHS.unpack(head)
    both = file.read(header + body)
    if len(both) < header + body:
        return None
    return json.loads(both[:header]), both[header:]


def main(parent: int) -> None:
    """Compile the programs that standard input requests, and answer on standard output."""
    import queue

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    os.nice(NICENESS)
    requests: SimpleQueue[Any] = queue.SimpleQueue()
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


def _read(file: BinaryIO, requests: SimpleQueue[Any]) -> None:
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
    from dovetail_xla import execution, lapack

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
