"""Messages of the watch: a line of JSON each, with their kind as the entry ``is``."""

from __future__ import annotations

import json
import linecache
import os
import socket
import sys
import sysconfig
import threading
from contextlib import suppress
from typing import Any

from dovetail_base.source import is_hidden, source_of

LONGEST = 1 << 16
"""Bytes of a line; a connection that sends more is closed."""


_STANDARD = (sysconfig.get_paths()["stdlib"] + os.sep, "<frozen ")


_last = [""]


class Lines:
    """A connection that sends and receives messages."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""
        self._sending = threading.Lock()

    def send(self, **message: Any) -> bool:
        """Send a message; returns True if the system accepted it."""
        line = json.dumps(message).encode()[: LONGEST - 1] + b"\n"
        try:
            with self._sending:
                self.connection.sendall(line)
        except OSError:
            return False
        return True

    def receive(self) -> list[dict[str, Any]] | None:
        """The received messages; None if the other side has closed, or sent something else."""
        try:
            data = self.connection.recv(LONGEST)
        except (BlockingIOError, InterruptedError, TimeoutError):
            return []
        except OSError:
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        if not data or len(self._rest) > LONGEST:
            return None
        try:
            result: list[Any] = [json.loads(line) for line in lines]
        except ValueError:
            return None
        return result if all(isinstance(m, dict) and "is" in m for m in result) else None

    def close(self) -> None:
        """End the connection and notify the other side."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()


def identity() -> dict[str, Any]:
    """The host and the process number of this process."""
    return {"host": socket.gethostname(), "pid": os.getpid()}


def whereabouts() -> str:
    """The user's line that the main thread runs, or ran last: ``train.py:31: loss = step(x)``."""
    main = threading.main_thread().ident
    frame = sys._current_frames().get(main or 0)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_code.co_filename.startswith(_STANDARD):
        frame = frame.f_back
    source = source_of(frame)
    if source is None or source.filename.startswith(_STANDARD):  # it is being imported, or ends
        error = None if hasattr(sys, "ps1") else getattr(sys, "last_value", None)
        return (_raised_at(error) if error is not None else "") or _last[0]
    _last[0] = _line(source.filename, source.line)
    return _last[0]


def raised_at(error: BaseException) -> str:
    """The user's line at which an exception was raised; else that of :func:`whereabouts`."""
    return _raised_at(error) or whereabouts()


def _raised_at(error: BaseException) -> str:
    result, at = "", error.__traceback__
    while at is not None:
        frame = at.tb_frame
        if not is_hidden(frame) and not frame.f_code.co_filename.startswith(_STANDARD):
            result = _line(frame.f_code.co_filename, at.tb_lineno)
        at = at.tb_next
    return result


def _line(filename: str, line: int) -> str:
    code = linecache.getline(filename, line).strip()
    return f"{filename}:{line}{f': {code}' if code else ''}"[:500]
