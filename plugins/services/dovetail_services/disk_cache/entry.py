"""The format of an entry of the cache, and the check of every byte of one before any is used.

    magic | key | signed? | lengths | environment | label | packed body | SHA-256 | signature?

The key is the program's, the environment says which versions and processor the body is for, the
label what it is, for people. The checksum is of all that is before it, the signature an HMAC of the
checksum under a secret. Lengths must be those of the file.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
import zlib
from typing import NamedTuple

# Formats of earlier versions: to be replaced without a word.
_OLD = (b"dovetail-executable-1\n", b"dovetail-entry-2\n")
_MAGIC = b"dovetail-entry-3\n"
_HEAD = struct.Struct(f"<{len(_MAGIC)}s32s?IIII")
_DIGEST = hashlib.sha256().digest_size
LARGEST = 1 << 31
"""No entry is larger, in bytes, packed or unpacked."""


class DamagedEntry(Exception):
    """An entry is not what was written under its name; the text says why."""


def encode(
    key: bytes, environment: bytes, body: bytes, secret: bytes | None, label: bytes = b""
) -> bytes:
    """An entry for a program's ``key`` (32 bytes), signed if there is a secret."""
    packed = zlib.compress(body, 1)
    sizes = len(environment), len(label), len(packed), len(body)
    head = _HEAD.pack(_MAGIC, key, secret is not None, *sizes)
    checked = b"".join((head, environment, label, packed))
    digest = hashlib.sha256(checked).digest()
    return b"".join((checked, digest, _signature(digest, secret) if secret else b""))


class Parts(NamedTuple):
    """The parts of an entry whose checksum is right.

    Attributes:
        packed: the body, packed. size: how long it is unpacked.
    """

    key: bytes
    environment: bytes
    label: bytes
    packed: memoryview
    size: int
    signed: bool

    def body(self) -> bytes:
        """The body, unpacked. Raises DamagedEntry where it is not of the length that is stated."""
        return _unpacked(self.packed, self.size)


def decode(blob: bytes, key: bytes, environment: bytes, secret: bytes | None) -> bytes | None:
    """The body of an entry; None if it is of another environment or an earlier format.

    Raises:
        DamagedEntry: it was altered, is of another program, or lacks the signature of ``secret``.
    """
    if is_old(blob):
        return None
    parts = split_entry(blob, secret)
    if parts.key != key:
        raise DamagedEntry("it is of another program")
    return parts.body() if parts.environment == environment else None


def is_old(blob: bytes) -> bool:
    """Tell whether an entry has the format of an earlier version."""
    return blob.startswith(_OLD)


def split_entry(blob: bytes, secret: bytes | None) -> Parts:
    """The parts of an entry, of whatever program.

    Raises:
        DamagedEntry: it was altered, or lacks the signature of ``secret``.
    """
    head, rest = blob[: _HEAD.size], memoryview(blob)[_HEAD.size :]
    if len(head) < _HEAD.size or not head.startswith(_MAGIC):
        raise DamagedEntry("it does not begin as an entry does")
    _, key, signed, n_environment, n_label, n_packed, n_body = _HEAD.unpack(head)
    start = n_environment + n_label
    end = start + n_packed
    if len(rest) != end + _DIGEST * (1 + signed):
        raise DamagedEntry("its length is not the one that it states")
    digest, signature = bytes(rest[end : end + _DIGEST]), bytes(rest[end + _DIGEST :])
    if hashlib.sha256(memoryview(blob)[: _HEAD.size + end]).digest() != digest:
        raise DamagedEntry("its checksum is wrong")
    if secret and not hmac.compare_digest(signature, _signature(digest, secret)):
        raise DamagedEntry("it is not signed with this user's secret")
    environment, label = bytes(rest[:n_environment]), bytes(rest[n_environment:start])
    return Parts(key, environment, label, rest[start:end], n_body, signed)


def _signature(digest: bytes, secret: bytes) -> bytes:
    return hmac.digest(secret, digest, "sha256")


def _unpacked(packed: memoryview, size: int) -> bytes:
    """Exactly ``size`` bytes; an error if there would be more or fewer."""
    if not 0 < size < LARGEST:
        raise DamagedEntry(f"it states a body of {size} bytes")
    unpacker = zlib.decompressobj()
    try:
        body = unpacker.decompress(packed, size)
        more = unpacker.decompress(unpacker.unconsumed_tail, 1)
    except zlib.error as e:
        raise DamagedEntry(f"its body cannot be unpacked ({e})") from None
    if len(body) != size or more or not unpacker.eof or unpacker.unused_data:
        raise DamagedEntry("its body is not of the length that it states")
    return body
