"""The file: many processes append lines to it at once; and it is read."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import BinaryIO

from .entry import Entry, UnreadableLine, decode, key_of

try:
    import fcntl
except ImportError:  # not POSIX: processes there are not kept apart
    fcntl = None


class Appender:
    """Adds lines to a file, each program once.

    Several processes may add to one file: a line is written under the file's lock, after what the
    others have written since has been read. What a killed process left of a line is ended first.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._known: set[str] = set()
        self._read = 0
        self._lock = threading.Lock()

    def add(self, key: str, line: bytes) -> None:
        """Add a line unless its program is there.

        Raises:
            OSError: the file cannot be written to.
        """
        with self._lock:
            if key in self._known:
                return
            with open(self._path, "ab+") as file:
                if fcntl is not None:
                    fcntl.flock(file, fcntl.LOCK_EX)
                is_ended = self._read_on(file)
                if key not in self._known:
                    file.write(line if is_ended else b"\n" + line)
                    file.flush()
                    self._known.add(key)

    def _read_on(self, file: BinaryIO) -> bool:
        """Read the lines that were added since; True if the file ends with a complete line."""
        size = file.seek(0, os.SEEK_END)
        if size < self._read:  # it was begun anew
            self._known.clear()
            self._read = 0
        file.seek(self._read)
        end = b"\n"
        for end in file:
            if (key := key_of(end)) is not None:
                self._known.add(key)
            if end.endswith(b"\n"):
                self._read += len(end)
        return end.endswith(b"\n")


def read(path: str) -> Iterator[tuple[int, Entry | str]]:
    """The programs of a file, each once, with the numbers of their lines; for a line that is none
    the reason.

    Raises:
        OSError: the file cannot be read.
    """
    known: set[str] = set()
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            key = key_of(line)
            if not line.strip() or (key is not None and key in known):
                continue
            try:
                entry = decode(line)
            except UnreadableLine as e:
                yield number, str(e)
                continue
            if key is not None:
                known.add(key)
            yield number, entry
