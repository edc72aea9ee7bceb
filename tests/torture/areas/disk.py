"""The disk of the cache is full, read-only or small, its folder shared or deleted; programs run."""

from __future__ import annotations

import errno
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import dovetail
import dovetail.numpy as jnp
from dovetail_services.disk_cache import folder as folders

LIMIT = 120.0
BATCH = 100

_X = np.linspace(0.1, 1.0, 6, dtype=np.float32)
_ENTRY = 3500
"""About the size of an entry of these programs."""


def _check(n: int) -> None:
    compiled = dovetail.jit(lambda x: jnp.sin(x) * (n + 2.0)).lower(_X).compile()
    np.testing.assert_allclose(compiled(_X), np.sin(_X) * (n + 2.0), rtol=1e-6)


def attempt(rng: random.Random, begin: Callable[[str], None]) -> None:
    common = [kind for kind in _ATTACKS if kind not in _SLOW]
    kind = rng.choice(common) if rng.random() < 0.95 else rng.choice(_SLOW)
    begin(kind)
    with tempfile.TemporaryDirectory() as base, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(base) / "cache"
        dovetail.config.update("compilation_cache_dir", str(folder))
        dovetail.config.update("compilation_cache_max_size", -1)
        _ATTACKS[kind](rng, folder)
        dovetail.config.update("compilation_cache_max_size", -1)
        _check(100)  # nothing is the matter now
        _check(100)
        assert _left_behind(folder) == []
        assert sum(not name.startswith(".") for name in os.listdir(folder)) >= 1


def _left_behind(folder: Path) -> list[str]:
    names = os.listdir(folder) if folder.exists() else []
    return [name for name in names if not name.endswith(".bin")]


def _full(rng: random.Random, folder: Path) -> None:
    """Files may have so many bytes and no more: a write fails in its midst."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    for n in range(3):
        resource.setrlimit(resource.RLIMIT_FSIZE, (rng.randrange(_ENTRY // 2), most))
        try:
            _check(n)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        assert _left_behind(folder) == []


class _Faulty:
    """The module ``os``, one of whose calls fails."""

    def __init__(self, at: int, error: BaseException, spare: tuple[str, ...]) -> None:
        self._left, self._error, self._spare = at, error, spare

    def __getattr__(self, name: str) -> Any:
        result = getattr(os, name)
        if not callable(result) or name in self._spare or isinstance(result, type):
            return result

        def call(*args: Any, **kwargs: Any) -> Any:
            self._left -= 1
            if self._left == 0:
                raise self._error
            return result(*args, **kwargs)

        return call


_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EIO, errno.ESTALE)


def _failing(rng: random.Random, folder: Path) -> None:
    """Some call of the system fails, each time another."""
    for n in range(4):
        number = rng.choice(_ERRORS)
        dovetail.config.update("compilation_cache_max_size", rng.choice((-1, 2 * _ENTRY)))
        # What cannot be deleted stays: that is the one failure that leaves something behind.
        spare = ("unlink", "close")
        folders.os = _Faulty(rng.randrange(1, 25), OSError(number, os.strerror(number)), spare)
        try:
            _check(n)
            _check(n)
        finally:
            folders.os = os
        assert _left_behind(folder) == []


def _interrupted(rng: random.Random, folder: Path) -> None:
    """Ctrl-C in the midst of a write: it is raised, and nothing stays."""
    for n in range(4):
        folders.os = _Faulty(rng.randrange(1, 25), KeyboardInterrupt(), ("unlink", "close"))
        try:
            _check(n)
        except KeyboardInterrupt:
            pass
        finally:
            folders.os = os
        assert _left_behind(folder) == []


def _deleted(rng: random.Random, folder: Path) -> None:
    """Somebody deletes the folder again and again."""
    stop = threading.Event()

    def delete() -> None:
        while not stop.wait(rng.uniform(0, 0.02)):
            shutil.rmtree(folder, ignore_errors=True)

    thread = threading.Thread(target=delete)
    thread.start()
    try:
        for n in range(5):
            _check(n)
    finally:
        stop.set()
        thread.join()


def _left(rng: random.Random, folder: Path) -> None:
    """Temporary files of processes that were killed are deleted by the next that uses the cache."""
    folder.mkdir(mode=0o700)
    for n in range(rng.randrange(1, 4)):
        (folder / f"{folders._TEMPORARY}{n}").write_bytes(rng.randbytes(rng.randrange(100)))
    _check(0)
    assert _left_behind(folder) == []


def _small(rng: random.Random, folder: Path) -> None:
    """A limit holds after each program; what was used last stays."""
    limit = rng.choice((0, 100, _ENTRY * 2, _ENTRY * 3))
    dovetail.config.update("compilation_cache_max_size", limit)
    for _ in range(8):
        _check(rng.randrange(5))
        assert _size(folder) <= limit


def _size(folder: Path) -> int:
    total = 0
    for entry in folder.iterdir() if folder.exists() else ():
        with suppress(FileNotFoundError):
            total += entry.stat().st_size
    return total


def _threads(rng: random.Random, folder: Path) -> None:
    """Threads compile the same programs with one small cache."""
    limit = rng.choice((_ENTRY * 2, _ENTRY * 4))
    dovetail.config.update("compilation_cache_max_size", limit)
    orders = [[rng.randrange(5) for _ in range(4)] for _ in range(3)]
    errors: list[BaseException] = []

    def work(order: list[int]) -> None:
        try:
            for n in order:
                _check(n)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(order,)) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    assert _size(folder) <= limit


_PROGRAM = """
import sys, random, warnings
warnings.simplefilter("error")
import numpy as np, dovetail, dovetail.numpy as jnp
folder, limit, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
dovetail.config.update("compilation_cache_dir", folder)
dovetail.config.update("compilation_cache_max_size", limit)
rng, x = random.Random(seed), np.linspace(0.1, 1.0, 6, dtype=np.float32)
for _ in range(20):
    n = rng.randrange(6)
    found = dovetail.jit(lambda x: jnp.sin(x) * (n + 2.0)).lower(x).compile()(x)
    np.testing.assert_allclose(found, np.sin(x) * (n + 2.0), rtol=1e-6)
"""


def _processes(rng: random.Random, folder: Path) -> None:
    """Processes share one small cache, and one of them is killed."""
    limit = rng.choice((_ENTRY * 2, _ENTRY * 4))
    command = [sys.executable, "-c", _PROGRAM, str(folder), str(limit)]
    running = [
        subprocess.Popen([*command, str(rng.random()).replace(".", "")], stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    time.sleep(rng.uniform(0.5, 3.0))
    running[0].kill()
    for process in running:
        said = process.communicate()[1]
        assert process is running[0] or process.returncode == 0, said.decode()
    dovetail.config.update("compilation_cache_max_size", limit)
    _check(50)
    folders.remove_left_behind(str(folder))
    assert _size(folder) <= limit


_ATTACKS: dict[str, Callable[[random.Random, Path], None]] = {
    "files cannot grow": _full,
    "a call of the system fails": _failing,
    "an interrupt while writing": _interrupted,
    "the folder is deleted meanwhile": _deleted,
    "temporary files of the dead": _left,
    "a size limit": _small,
    "a size limit and threads": _threads,
    "a size limit and processes": _processes,
}
_SLOW = ("a size limit and processes",)
