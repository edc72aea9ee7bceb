"""Messages between a process and its compiler: frames of a JSON header and of bytes."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO

_LENGTHS = struct.Struct("<II")


def write_frame(file: BinaryIO, header: Mapping[str, Any], body: bytes = b"") -> None:
    """Write a frame. OSError where nobody reads."""
    text = json.dumps(header).encode()
    file.write(b"".join((_LENGTHS.pack(len(text), len(body)), text, body)))
    file.flush()


def read_frame(file: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """The next frame; None where the writer is gone, in the midst of one, too."""
    head = file.read(_LENGTHS.size)
    if len(head) < _LENGTHS.size:
        return None
    header, body = _LENGTHS.unpack(head)
    both = file.read(header + body)
    if len(both) < header + body:
        return None
    return json.loads(both[:header]), both[header:]
