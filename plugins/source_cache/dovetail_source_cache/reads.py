"""Files that are read while functions are traced: Python says which, by its audit events."""

from __future__ import annotations

import os
import sys
from typing import Any

from dovetail_core import EVAL, get_trace

from .modules import kind_of_file

_EVENTS = {
    "open": "opens", "os.listdir": "lists", "os.scandir": "lists", "socket.connect": "connects to",
    "subprocess.Popen": "starts", "os.system": "starts", "os.exec": "starts",
    "os.posix_spawn": "starts", "sqlite3.connect": "opens",
}  # fmt: skip
_noticed: list[tuple[str, str]] = []
"""The actions while something was traced in this process: the path, and a verb."""
_watches: list[bool] = []


def watch() -> None:
    """Notice from now on what is read while something is traced, in all threads."""
    if not _watches:
        _watches.append(True)
        sys.addaudithook(_notice)


def count() -> int:
    """The number of actions noticed so far."""
    return len(_noticed)


def noticed(since: int, declared: tuple[str, ...]) -> str:
    """The files that were read since then, beside the files that the user said; "" for nothing."""
    known = {os.path.realpath(path) for path in declared}
    for path, verb in _noticed[since:]:
        if path not in known:
            return f"while it was traced, it {verb} {path}"
    return ""


def _notice(event: str, args: tuple[Any, ...]) -> None:
    verb = _EVENTS.get(event)
    if verb is None or get_trace() is EVAL:
        return
    path = args[0] if args else ""
    if isinstance(path, int) and event == "open":
        return  # a file that is open already
    if isinstance(path, (str, bytes, os.PathLike)):
        path = os.path.realpath(os.fsdecode(path))
        if kind_of_file(path) != "user" or path.endswith((".py", ".pyc", ".so")):
            return
    _noticed.append((str(path), verb))
