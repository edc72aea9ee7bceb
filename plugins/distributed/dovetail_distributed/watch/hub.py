"""The hub in process 0: it admits the processes of one job, and notifies all if one is lost."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from .messages import Lines

BEATS = 10
"""The number of heartbeats in the time after which a process counts as lost."""


@dataclass
class Guest:
    """A connected process.

    Attributes:
        at: the user's line of its last message. leaving: True if it waits for the end.
    """

    lines: Lines
    process: int
    host: str
    pid: int
    last_seen: float
    at: str = ""
    leaving: bool = False

    @property
    def name(self) -> str:
        return f"process {self.process} (host {self.host}, pid {self.pid})"


@dataclass
class Hub:
    """Listens at an address that is bound already.

    Args:
        timeout: seconds without a sign of life after which a process is lost.
        job: the job's identifier; None if unknown.
    """

    listener: socket.socket
    processes: int
    timeout: float
    job: str | None = None
    guests: dict[int, Guest] = field(default_factory=dict[int, Guest])
    complete: threading.Event = field(default_factory=threading.Event)
    _started: dict[str, Any] | None = None
    _stopped: bool = False
    _all_leaving: bool = False
    _silent: list[Guest] = field(default_factory=list[Guest])

    def __post_init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self.listener.setblocking(False)
        self._selector.register(self.listener, selectors.EVENT_READ, None)
        self.thread = threading.Thread(target=self._run, name="dovetail-hub", daemon=True)
        self.thread.start()

    def missing(self) -> list[int]:
        """The processes that have not connected."""
        return [i for i in range(self.processes) if i not in self.guests]

    def others(self) -> int:
        """The number of connections to other processes."""
        return max(len(self._selector.get_map()) - 2, 0)

    def start(self, port: int) -> None:
        """Send all processes the port of the runtime's service."""
        self._started = {"is": "start", "port": port}
        self._tell(**self._started)

    def refuse_all(self, why: str) -> None:
        """Notify connected processes that the job does not start."""
        self._tell(**{"is": "refused", "why": why})

    def stop(self) -> None:
        """Stop admitting processes."""
        self._stopped = True

    def abandon(self) -> None:
        """Close a forked process's copies of the connections, which stay the parent's."""
        self._stopped = True
        for key in self._selector.get_map().values():  # the selector is shared with the parent
            key.fileobj.close()  # type: ignore[union-attr]
        for guest in self._silent:
            guest.lines.connection.close()

    def _run(self) -> None:
        pause = self.timeout / BEATS
        last, sent = time.monotonic(), 0.0
        while not self._stopped:
            for key, _ in self._selector.select(min(pause, 0.5)):
                self._enter() if key.data is None else self._hear(key.data)
            now = time.monotonic()
            if now - last > self.timeout / 2:  # this process was stopped: the others were not
                for guest in self.guests.values():
                    guest.last_seen = now
            last = now
            if now - sent > pause:
                sent = now
                self._tell(**{"is": "beat"})
            self._check(now)
        self.listener.close()

    def _enter(self) -> None:
        try:
            connection, _ = self.listener.accept()
        except OSError:
            return
        connection.settimeout(5.0)  # of what is sent: a process that is stopped does not read
        self._selector.register(connection, selectors.EVENT_READ, Lines(connection))

    def _hear(self, lines: Lines) -> None:
        messages = lines.receive()
        guest = next((g for g in self.guests.values() if g.lines is lines), None)
        for message in messages or ():
            if guest is None:
                guest = self._admit(lines, message)
            if guest is None:
                messages = None
                break
            guest.last_seen = time.monotonic()
            self._understand(guest, message)
        if messages is None:
            self._selector.unregister(lines.connection)
            lines.close()
            if guest is not None and self.guests.get(guest.process) is guest:
                del self.guests[guest.process]
                if not self._all_leaving:
                    self._lost(guest, "ended without a word: it was killed, or it crashed")

    def _understand(self, guest: Guest, message: dict[str, Any]) -> None:
        guest.at = str(message.get("at", guest.at))
        if message["is"] == "failed":
            self.guests.pop(guest.process, None)
            self._lost(guest, f"failed: {message.get('why')}")
        elif message["is"] == "where":
            result = {str(g.process): [g.name, g.at] for g in self.guests.values()}
            guest.lines.send(**{"is": "there", "found": result})
        elif message["is"] == "leave":
            guest.leaving = True
            if all(g.leaving for g in self.guests.values()) and not self.missing():
                self._all_leaving = True
                self._tell(**{"is": "go"})

    def _admit(self, lines: Lines, message: dict[str, Any]) -> Guest | None:
        """The process of a hello message, unless it belongs to another job."""
        process, processes = message.get("process"), message.get("processes")
        name = f"process {process} of {processes} (host {message.get('host')}, pid "
        name += f"{message.get('pid')})"
        why = ""
        if message["is"] != "hello" or not isinstance(process, int):
            return None
        if None not in (self.job, message.get("job")) and message["job"] != self.job:
            why = "another job is at this address"
        elif processes != self.processes:
            why = f"the job at this address has {self.processes} processes"
        elif not 0 <= process < self.processes:
            why = f"numbers of processes are 0 to {self.processes - 1}"
        elif self._started is not None:
            why = "the job at this address has begun"
        elif process in self.guests:
            why = f"{self.guests[process].name} has come already"
        if why:
            lines.send(**{
                "is": "refused",
                "why": f"{name} cannot join: {why}. Is the address another job's, or are two "
                "processes started with one number?",
            })  # fmt: skip
            return None
        guest = Guest(lines, process, str(message["host"]), int(message["pid"]), time.monotonic())
        self.guests[process] = guest
        if not self.missing():
            self.complete.set()
        return guest

    def _check(self, now: float) -> None:
        """Declare processes lost that have sent nothing for too long."""
        for guest in list(self.guests.values()):
            if now - guest.last_seen > self.timeout:
                del self.guests[guest.process]
                why = f"gave no sign of life for {self.timeout:g} s: it is stopped, or cut off"
                guest.lines.send(**{"is": "failure", **self._about(guest, why)})
                self._selector.unregister(guest.lines.connection)  # open, so that it can be read
                self._silent.append(guest)
                self._lost(guest, why)

    def _lost(self, guest: Guest, why: str) -> None:
        if self._started is None:  # until the job starts another process may have its number
            return
        self._tell(**{"is": "failure", **self._about(guest, why)})

    def _about(self, guest: Guest, why: str) -> dict[str, Any]:
        return {"process": guest.process, "name": guest.name, "why": why, "at": guest.at}

    def _tell(self, **message: Any) -> None:
        for guest in list(self.guests.values()):
            guest.lines.send(**message)
