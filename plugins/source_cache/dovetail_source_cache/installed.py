"""A digest of what is installed: names and versions of all distributions, and the files of those in
use that are in no such folder, as they are while somebody works on them."""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress

from dovetail_base.caches import cached

from .modules import kind_of_file, library_folders, own_folders


@cached(permanent="what is installed does not change in a process")
def installed() -> bytes:
    """A digest of all that is taken at its version."""
    result = [sys.version, sys.implementation.cache_tag or ""]
    for folder in library_folders():
        result += _distributions(folder)
    for folder in own_folders():
        if not folder.startswith(library_folders()):
            result += _sources(folder)
    return hashlib.sha256("\n".join(result).encode(errors="surrogateescape")).digest()


def file_facts(module: str) -> tuple[int, ...]:
    """Size and time of change of the file of an installed module that a function refers to, which
    somebody may have changed in its place."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or kind_of_file(file) != "installed":
        return ()
    facts = os.stat(file)
    return facts.st_size, facts.st_mtime_ns


def _distributions(folder: str) -> list[str]:
    """``name-version.dist-info`` of each, and when it was put there."""
    result: list[str] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for e in entries:
            if e.name.endswith((".dist-info", ".egg-info", ".pth")):
                result.append(f"{folder}{e.name} {e.stat().st_mtime_ns}")
    return sorted(result)


def _sources(folder: str) -> list[str]:
    """Each source file below a folder, its size and when it was changed."""
    result: list[str] = []
    with os.scandir(folder) as entries:
        for e in entries:
            if e.is_dir():
                if e.name != "__pycache__":
                    result += _sources(e.path)
            elif e.name.endswith((".py", ".so")):
                facts = e.stat()
                result.append(f"{e.path} {facts.st_size} {facts.st_mtime_ns}")
    return sorted(result)
