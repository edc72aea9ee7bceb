"""The format of the file: a line of JSON for each program, which is its StableHLO and what else
its compilation depends on.

    {"dovetail_compiles": 1, "key": "...", "name": "step", ..., "module": "..."}

A line stands for itself, so that files can be put together by ``cat``. The text of the module is
packed; the key is the checksum of all that is in the line and says what is compiled.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from dovetail_base.entry_points import installed_version
from dovetail_xla.version import JAXLIB_VERSION

FORMAT = 1
LARGEST = 1 << 30
"""No module is longer, in bytes."""
_HEAD = re.compile(rb'\{"dovetail_compiles": \d+, "key": "([0-9a-f]{64})"')
_VARIABLES = ("XLA_FLAGS", "LIBTPU_INIT_ARGS")

Flags = Mapping[str, str]


class UnreadableLine(Exception):
    """A line is not what was written; the text says in what way."""


@dataclass(frozen=True)
class Parts:
    """The division of a program among several devices.

    Attributes:
        chosen_ins, chosen_outs: per input and per result, whether XLA chooses its sharding.
        kept: per input, whether the module takes it. constants: how many it takes ahead of these.
    """

    chosen_ins: tuple[bool, ...]
    chosen_outs: tuple[bool, ...]
    kept: tuple[bool, ...]
    constants: int


@dataclass(frozen=True)
class Entry:
    """A program that was compiled.

    Attributes:
        devices: the numbers of those that it is for. count: how many the process had.
        parts: None where it is for one device.
        callbacks: how many functions of Python it calls.
        options: the compiler options that it was compiled with for itself.
        flags: the variables of the environment that the compiler reads.
        jaxlib, dovetail: versions.
    """

    name: str
    platform: str
    module: str = field(repr=False)
    devices: tuple[int, ...]
    count: int
    parts: Parts | None = None
    callbacks: int = 0
    options: Mapping[str, str | bool | int | float] = field(default_factory=dict)  # pyright: ignore
    flags: Flags = field(default_factory=dict)  # pyright: ignore[reportUnknownVariableType]
    jaxlib: str = ""
    dovetail: str = ""


def flags_now() -> dict[str, str]:
    """The variables of the environment that the compiler reads, those that are set."""
    return {name: os.environ[name] for name in _VARIABLES if os.environ.get(name)}


def versions_now() -> dict[str, str]:
    """The versions that programs are recorded with."""
    own = installed_version("dovetail-core") or "unknown"
    return {"jaxlib": ".".join(map(str, JAXLIB_VERSION)), "dovetail": own}


def devices(count: int) -> str:
    """A number of devices, in words."""
    return f"{count} devices" if count > 1 else "one device"


def encode(entry: Entry) -> tuple[str, bytes]:
    """The key and the line, which ends with a newline."""
    facts = asdict(entry)
    text = facts.pop("module").encode()
    packed = b64encode(zlib.compress(text, 6)).decode()
    key = _checksum(facts, text)
    line = json.dumps({"dovetail_compiles": FORMAT, "key": key, **facts, "module": packed})
    return key, line.encode() + b"\n"


def _checksum(facts: Mapping[str, Any], text: bytes) -> str:
    content = json.dumps(facts, sort_keys=True).encode() + b"\0" + text
    return hashlib.sha256(content).hexdigest()


def key_of(line: bytes) -> str | None:
    """The key that a line states; None where it is none of this format."""
    result = _HEAD.match(line)
    return result[1].decode() if result and line.endswith(b"}\n") else None


def decode(line: bytes) -> Entry:
    """The program of a line.

    Raises:
        UnreadableLine: it was altered or is incomplete, or of a later format.
    """
    try:
        result: Any = json.loads(line)
        written = result.pop("dovetail_compiles")
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        raise UnreadableLine("it is no program that was recorded") from None
    if written != FORMAT:
        raise UnreadableLine(f"it is of format {written!r}, and this version reads {FORMAT}")
    try:
        key, text = result.pop("key"), _unpacked(result.pop("module"))
        if _checksum(result, text) != key:
            raise UnreadableLine("its checksum is wrong")
        return _entry(result, text.decode())
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise UnreadableLine(f"it is damaged ({type(e).__name__})") from None


def _unpacked(packed: str) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(b64decode(packed, validate=True), LARGEST)
    except zlib.error:
        raise UnreadableLine("its module cannot be unpacked") from None
    if not unpacker.eof:
        raise UnreadableLine("its module is incomplete, or too long")
    return text


def _entry(result: dict[str, Any], text: str) -> Entry:
    parts = cast("dict[str, Any] | None", result.pop("parts"))
    devices, made = tuple(map(int, result.pop("devices"))), None
    if parts is not None:
        ins, outs, kept = (
            tuple(map(bool, parts[k])) for k in ("chosen_ins", "chosen_outs", "kept")
        )
        made = Parts(ins, outs, kept, int(parts["constants"]))
    return Entry(module=text, devices=devices, parts=made, **result)
