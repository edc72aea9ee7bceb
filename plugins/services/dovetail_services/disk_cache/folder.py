"""The folder of a cache: its entries are read, written atomically, and evicted.

Processes share a folder and never wait for each other. An entry is written to a temporary file and
renamed. The writer holds a lock on the temporary file, so that other processes recognise files of
processes that have ended. A writer evicts after its entry is written, so that the last writer
counts all entries.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from typing import NamedTuple

from .entry import LARGEST
from .trust import read_file

try:
    import fcntl
except ImportError:  # not POSIX: files of processes that have ended are recognised by their age
    fcntl = None

_ENTRY = re.compile(r"[0-9a-f]{64}\.bin")
_TEMPORARY = ".dovetail-entry-"
_OLD = 3600.0


def read_entry(folder: str, name: str, shared: bool) -> bytes:
    """The content of an entry, which counts as used now (see
    :func:`dovetail_services.disk_cache.trust`)."""
    blob, file = read_file(os.path.join(folder, name), LARGEST, shared=shared)
    try:
        if os.utime in os.supports_fd:
            with suppress(OSError):  # a folder may be there to be read only
                os.utime(file)
    finally:
        os.close(file)
    return blob


def write_entry(folder: str, name: str, blob: bytes, shared: bool) -> None:
    """Write an entry atomically. OSError if that fails."""
    file, temporary = _locked_temporary(folder)
    try:
        with open(file, "wb", buffering=0) as f:
            if shared and hasattr(os, "fchmod"):
                os.fchmod(file, 0o644)
            left = memoryview(blob)
            while left:
                left = left[f.write(left) :]
            if fcntl is None:
                f.close()  # an open file cannot be renamed there
            os.replace(temporary, os.path.join(folder, name))
    except BaseException:  # also an interrupt: nothing stays behind
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _locked_temporary(folder: str) -> tuple[int, str]:
    import tempfile  # reading alone does not need it

    while True:
        file, path = tempfile.mkstemp(prefix=_TEMPORARY, dir=folder)
        try:
            if fcntl is None:
                return file, path
            with suppress(OSError):  # some file systems have no locks
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file).st_nlink:  # else another process deleted it before it was locked
                return file, path
            os.close(file)
        except BaseException:
            os.close(file)
            with suppress(OSError):
                os.unlink(path)
            raise


def remove_left_behind(folder: str) -> None:
    """Delete the temporary files of processes that have ended."""
    with suppress(OSError), os.scandir(folder) as result:
        for each in result:
            if each.name.startswith(_TEMPORARY):
                with suppress(OSError):
                    if each.is_file(follow_symlinks=False) and _is_left_behind(each.path):
                        os.unlink(each.path)


def _is_left_behind(path: str) -> bool:
    if fcntl is not None:
        file = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False
        except OSError:  # no locks here
            pass
        finally:
            os.close(file)
    return time.time() - os.stat(path).st_mtime > _OLD


def evict(folder: str, limit: int, kept: str = "") -> None:
    """Delete the entries that were used longest ago until all take at most ``limit`` bytes.

    The entry named ``kept`` is deleted last. Several processes may do this at once: they delete in
    the same order, and count the entries that another has deleted.
    """
    result = entries(folder)
    total = sum(f.size for f in result)
    for f in sorted(result, key=lambda f: (f.name == kept, f.used, f.name)):
        if total <= limit:
            return
        if delete(folder, f.name):
            total -= f.size


class File(NamedTuple):
    """The file of an entry: its size in bytes, and when it was used, in nanoseconds."""

    name: str
    size: int
    used: int


def entries(folder: str) -> list[File]:
    """The files of entries, whatever is in them. OSError if there is no folder."""
    result: list[File] = []
    with os.scandir(folder) as every:
        for each in every:
            if _ENTRY.fullmatch(each.name) and each.is_file(follow_symlinks=False):
                with suppress(OSError):
                    facts = each.stat(follow_symlinks=False)
                    result.append(File(each.name, facts.st_size, facts.st_mtime_ns))
    return result


def delete(folder: str, name: str) -> bool:
    """Delete an entry; False if it cannot be deleted, as another user's."""
    try:
        os.unlink(os.path.join(folder, name))
    except FileNotFoundError:  # another process did it
        pass
    except OSError:
        return False
    return True
