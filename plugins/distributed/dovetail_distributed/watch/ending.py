"""The end of a process that cannot go on, because another one is lost."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .messages import identity, whereabouts

STATUS = 70
"""The exit status of a process that ends because another one is lost."""


def end(
    result: dict[str, Any], process: int, processes: int, others: Callable[[], int] = int
) -> None:
    """Print the reason, and end this process at once; process 0 after the others, within 1 s.

    Args:
        others: returns the number of other processes that still run. (The runtime's service ends
            with process 0, and its clients crash then.)

    A computation that waits for another process cannot be ended otherwise: no exception can be
    raised in a thread that is in the runtime, and exit handlers would wait for it, too.
    """
    say(text_of(result, process, processes))
    end_at_once(others, 0.05 if result["process"] == 0 else 0.5)


def end_at_once(others: Callable[[], int] = int, seconds: float = 0.5) -> None:
    """End this process (see :func:`end`); ``seconds`` are for what is written."""
    flushing = threading.Thread(target=_flush, daemon=True)
    flushing.start()
    flushing.join(seconds)  # another thread may hold the file's lock for ever
    wait_for_others(others)
    os._exit(STATUS)


def wait_for_others(others: Callable[[], int]) -> None:
    """Wait until there are no other processes, for a second at most."""
    until = time.monotonic() + 1
    while others() and time.monotonic() < until:
        time.sleep(0.01)


def text_of(result: dict[str, Any], process: int, processes: int, goes_on: bool = False) -> str:
    """The message of a process about the loss of another one."""
    me = identity()
    own = f"process {process} (host {me['host']}, pid {me['pid']})"
    at, why = whereabouts(), str(result["why"]).rstrip(".")
    was = f" It was at {result['at']}." if result.get("at") else ""
    if result["process"] == process:
        return (
            f"this process, {own}, {why}, so that the others went on without it. It ends "
            f"now, with exit status {STATUS}."
        )
    if goes_on:
        return f"{result['name']} of {processes} {why}.{was} The others go on."
    return (
        f"{result['name']} of {processes} {why}.{was} {own[0].upper()}{own[1:]} cannot go "
        f"on without it{f' at {at}' if at else ''}, and ends now with exit status {STATUS}."
    )


def say(text: str) -> None:
    """Write to the standard error, without the lock of Python's own file."""
    with suppress(OSError):
        os.write(2, f"dovetail: {text}\n".encode())


def _flush() -> None:
    for file in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            file.flush()
