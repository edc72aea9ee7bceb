"""Entries of the cache are altered, exchanged and replaced; results are right, or it is a miss."""

from __future__ import annotations

import atexit
import os
import random
import shutil
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import dovetail
import dovetail.numpy as jnp
from dovetail_services.disk_cache import provider

LIMIT = 60.0
BATCH = 200

_X = np.linspace(0.1, 1.0, 6, dtype=np.float32)
_PROGRAMS = 4


def _result(n: int) -> Any:
    """The result of program number ``n``, compiled or loaded anew."""
    compiled = dovetail.jit(lambda x: jnp.sin(x) * (n + 2.0)).lower(_X).compile()
    return compiled(_X)


def _check(n: int) -> None:
    np.testing.assert_allclose(_result(n), np.sin(_X) * (n + 2.0), rtol=1e-6)


@cache
def _made(signed: bool) -> Path:
    """A folder with the entries of all programs, made once for all attacks of this process."""
    base = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    os.environ["XDG_CONFIG_HOME"] = str(base / "config")
    _use(base / "made", signed)
    for n in range(_PROGRAMS):
        _check(n)
    return base / "made"


def _use(folder: Path, signed: bool) -> None:
    dovetail.config.update("compilation_cache_dir", str(folder))
    dovetail.config.update("compilation_cache_signed", signed)


def attempt(rng: random.Random, begin: Callable[[str], None]) -> None:
    kind = rng.choice(list(_ATTACKS))
    signed = rng.random() < 0.4
    begin(f"{kind}, signed" if signed else kind)
    made = _made(signed)
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base) / "cache"
        shutil.copytree(made, folder)
        _use(folder, signed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it tells is the tests' matter
            _ATTACKS[kind](rng, folder)
            for n in rng.sample(range(_PROGRAMS), 2):
                _check(n)
                _check(n)


def _change(change: Callable[[random.Random, bytes], bytes]) -> Any:
    def attack(rng: random.Random, folder: Path) -> None:
        for entry in sorted(folder.iterdir()):
            entry.write_bytes(change(rng, entry.read_bytes()))

    return attack


def _flip(rng: random.Random, blob: bytes) -> bytes:
    changed = bytearray(blob)
    for _ in range(rng.choice((1, 1, 1, 2, 8, 64))):
        changed[rng.randrange(len(blob))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(rng: random.Random, blob: bytes) -> bytes:
    return blob[: rng.randrange(len(blob))]


def _lengthen(rng: random.Random, blob: bytes) -> bytes:
    return blob + rng.choice((b"\0", rng.randbytes(rng.randrange(1, 5000)), blob))


def _cut_out(rng: random.Random, blob: bytes) -> bytes:
    start = rng.randrange(len(blob))
    return blob[:start] + blob[start + rng.randrange(1, 300) :]


def _splice(rng: random.Random, blob: bytes) -> bytes:
    start, other = rng.randrange(len(blob)), rng.randrange(len(blob))
    part = blob[other : other + rng.randrange(1, 300)]
    return blob[:start] + part + blob[start + len(part) :]


def _noise(rng: random.Random, blob: bytes) -> bytes:
    kept = rng.choice((0, 10, 17, 49, 62))
    return blob[:kept] + rng.randbytes(rng.randrange(5000))


def _exchange(rng: random.Random, folder: Path) -> None:
    result = sorted(folder.iterdir())
    blobs = [entry.read_bytes() for entry in result]
    rng.shuffle(blobs)
    for entry, blob in zip(result, blobs, strict=True):
        entry.write_bytes(blob)


def _mix(rng: random.Random, folder: Path) -> None:
    """Part of one program's entry, the rest of another's."""
    result = sorted(folder.iterdir())
    blobs = [entry.read_bytes() for entry in result]
    for entry, blob in zip(result, blobs, strict=True):
        other = rng.choice(blobs)
        at = rng.choice((49, 62, len(blob) // 2, len(blob) - 64, len(blob) - 32))
        entry.write_bytes(blob[:at] + other[at:])


def _of_another(fact: str) -> Any:
    """Entries that another version or processor made, under the names of this one's."""

    def attack(rng: random.Random, folder: Path) -> None:
        mine = {entry.name for entry in folder.iterdir()}
        elsewhere = folder.with_name("elsewhere")
        dovetail.config.update("compilation_cache_dir", str(elsewhere))
        plain = provider.environment
        other = lambda device: plain(device).replace(fact.encode(), b"another")  # noqa: E731
        provider.environment = other
        try:
            for n in range(2):
                _check(n)
        finally:
            provider.environment = plain
        dovetail.config.update("compilation_cache_dir", str(folder))
        result = sorted(elsewhere.iterdir())
        for name in mine:
            (folder / name).write_bytes(rng.choice(result).read_bytes())

    return attack


def _instead(put: Callable[[random.Random, Path], Any]) -> Any:
    def attack(rng: random.Random, folder: Path) -> None:
        for entry in sorted(folder.iterdir()):
            blob = entry.read_bytes()
            entry.unlink()
            put(rng, entry)
            if entry.with_name("beside").exists():
                entry.with_name("beside").write_bytes(blob)

    return attack


def _link(rng: random.Random, entry: Path) -> None:
    target = rng.choice((entry.with_name("beside"), Path("/dev/zero"), Path("/dev/tty"), entry))
    if target.name == "beside":
        target.touch()
    entry.symlink_to(target)


def _folder(rng: random.Random, entry: Path) -> None:
    entry.mkdir()
    if rng.random() < 0.5:
        (entry / "inside").touch()


def _permit(rng: random.Random, folder: Path) -> None:
    for entry in folder.iterdir():
        entry.chmod(rng.choice((0o000, 0o200, 0o400, 0o606, 0o660, 0o777)))


def _other_secret(rng: random.Random, folder: Path) -> None:
    """Entries that another user signed, or none did, under the names of this user's."""
    if not dovetail.config.compilation_cache_signed:
        return _exchange(rng, folder)
    unsigned = sorted(_made(False).iterdir())
    _use(folder, True)
    for entry in folder.iterdir():
        blob = entry.read_bytes()
        other = blob[:-32] + rng.randbytes(32)
        entry.write_bytes(rng.choice((other, rng.choice(unsigned).read_bytes())))


_ATTACKS: dict[str, Callable[[random.Random, Path], None]] = {
    "bits flipped": _change(_flip),
    "cut off": _change(_cut),
    "lengthened": _change(_lengthen),
    "a part cut out": _change(_cut_out),
    "a part moved": _change(_splice),
    "noise": _change(_noise),
    "entries exchanged": _exchange,
    "halves of two entries": _mix,
    "of another processor": _of_another("processor_features"),
    "of another version": _of_another("jaxlib"),
    "a FIFO": _instead(lambda rng, entry: os.mkfifo(entry)),
    "a link": _instead(_link),
    "a folder": _instead(_folder),
    "permissions": _permit,
    "signatures": _other_secret,
}
