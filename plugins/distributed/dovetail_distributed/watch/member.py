"""The watch in every process: it sends heartbeats to process 0, and receives losses of others."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from .hub import BEATS
from .messages import Lines, identity, whereabouts

REPORT_LINE = 1.0
"""Seconds within which a process reports that it runs another line."""


class Refused(Exception):
    """Process 0 does not admit this process."""


class Member:
    """A process's connection to process 0.

    Args:
        timeout: seconds without a sign of life after which process 0 is lost.
        on_failure: called with the facts of a process that was lost, in a thread of its own.
        poll: called at each heartbeat. job: the identifier of this process's job, if known.
    """

    def __init__(
        self,
        connection: socket.socket,
        process: int,
        processes: int,
        timeout: float,
        on_failure: Callable[[dict[str, Any]], None],
        poll: Callable[[], None],
        job: str | None = None,
    ) -> None:
        self.process = process
        self.timeout = timeout
        self.lost: set[int] = set()
        self._on_failure = on_failure
        self._poll = poll
        self._lines = Lines(connection)
        self._port: int | None = None
        self._refusal = ""
        self._changed = threading.Condition()
        self._all_leaving = self._leaving = self._over = False
        self._lines_of_all: dict[str, list[str]] | None = None
        self._pause = timeout / BEATS
        connection.settimeout(min(self._pause, REPORT_LINE))
        hello = {"is": "hello", "process": process, "processes": processes, "job": job}
        self._lines.send(**hello, **identity())
        self.thread = threading.Thread(target=self._run, name="dovetail-watch", daemon=True)
        self.thread.start()

    def wait_for_start(self, seconds: float) -> int:
        """The port of the runtime's service.

        Raises:
            Refused: this process may not join. TimeoutError: not all processes have come.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._port is not None or self._refusal, seconds)
        if self._refusal:
            raise Refused(self._refusal)
        if self._port is None:
            raise TimeoutError
        return self._port

    def leave(self, seconds: float) -> bool:
        """Wait until all processes leave; returns True if they do in time."""
        self._leaving = True
        self._lines.send(**{"is": "leave", "at": whereabouts()})
        with self._changed:
            return self._changed.wait_for(lambda: self._all_leaving, seconds)

    def fail(self, why: str, at: str = "") -> None:
        """Notify the others that this process cannot go on.

        Args:
            at: the user's line; by default the one that runs.
        """
        self._over = True
        self._lines.send(**{"is": "failed", "why": why, "at": at or whereabouts()})

    def where_are(self, seconds: float = 2.0) -> dict[int, tuple[str, str]]:
        """The name of each process that lives, and the user's line of its last message."""
        self._lines_of_all = None
        self._lines.send(**{"is": "where"})
        with self._changed:
            self._changed.wait_for(lambda: self._lines_of_all is not None, seconds)
        return {int(k): (v[0], v[1]) for k, v in (self._lines_of_all or {}).items()}

    def close(self) -> None:
        """End the connection, without a message."""
        self._over = True
        self._lines.close()

    def abandon(self) -> None:
        """Close a forked process's copy of the connection, which stays the parent's."""
        self._over = True
        self._lines.connection.close()

    def _run(self) -> None:
        last_seen = last = time.monotonic()
        sent, at = 0.0, ""
        while not self._over:
            if last - sent >= self._pause or at != whereabouts():
                sent, at = last, whereabouts()
                self._lines.send(**{"is": "beat", "at": at})
            self._poll()
            until = time.monotonic() + min(self._pause, REPORT_LINE)
            messages: list[dict[str, Any]] | None = []
            while messages == [] and time.monotonic() < until:
                messages = self._lines.receive()
            now = time.monotonic()
            if messages is None:
                return self._parted("ended without a word: it was killed, or it crashed")
            if messages or now - last > self.timeout / 2:  # this process itself was stopped
                last_seen = now
            last = now
            if now - last_seen > self.timeout:
                why = f"gave no sign of life for {self.timeout:g} s: it is stopped, or cut off"
                return self._parted(why)
            for message in messages:
                self._understand(message)

    def _parted(self, why: str) -> None:
        """Handle the loss of process 0."""
        with self._changed:
            self._refusal = self._refusal or f"process 0 {why}"
            self._changed.notify_all()
        if not (self._over or self._all_leaving) and self._port is not None:
            self.lost.add(0)
            self._on_failure({"process": 0, "name": "process 0", "why": why, "at": ""})

    def _understand(self, message: dict[str, Any]) -> None:
        kind = message["is"]
        with self._changed:
            if kind == "start":
                self._port = int(message["port"])
            elif kind == "refused":
                self._refusal = str(message["why"])
            elif kind == "go":
                self._all_leaving = True
            elif kind == "there":
                self._lines_of_all = message["found"]
            self._changed.notify_all()
        if kind == "failure" and not self._over:
            self.lost.add(int(message["process"]))
            self._on_failure(message)
