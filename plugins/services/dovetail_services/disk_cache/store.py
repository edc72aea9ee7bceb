"""Entries of the cache by their keys: read and written, with warnings if that fails."""

from __future__ import annotations

import hashlib
import hmac
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from .entry import LARGEST, DamagedEntry, decode, encode
from .folder import evict, read_entry, remove_left_behind, write_entry
from .options import (
    cache_dir,
    cache_max_size,
    cache_min_bytes,
    cache_signed,
)
from .trust import (
    UntrustedFile,
    check_folder,
    make_folders,
    user_secret,
)

T = TypeVar("T")


class Store(NamedTuple):
    """A folder that may be used, and the secret that its entries are signed with, if any."""

    folder: str
    secret: bytes | None

    def name(self, key: bytes, environment: bytes) -> str:
        """The file of an entry. Users with secrets of their own do not replace each other's."""
        content = key + environment
        if self.secret:
            return f"{hmac.digest(self.secret, content, 'sha256').hex()}.bin"
        return f"{hashlib.sha256(content).hexdigest()}.bin"

    def read(self, key: bytes, environment: bytes, use: Callable[[bytes], T]) -> T | None:
        """The value that ``use`` makes of an entry's body; None if no entry can be used."""
        name = self.name(key, environment)
        try:
            blob = read_entry(self.folder, name, self.secret is not None)
            body = decode(blob, key, environment, self.secret)
            return None if body is None else use(body)
        except FileNotFoundError:
            return None
        except Exception as e:
            reason = str(e) if isinstance(e, (DamagedEntry, UntrustedFile)) else repr(e)
            _warn(
                f"the compilation cache entry {os.path.join(self.folder, name)} is damaged, or not "
                f"a cache entry: {reason}. It is not used: the program is compiled again and the "
                "entry replaced."
            )
            return None

    def write(self, key: bytes, environment: bytes, body: bytes, label: str) -> None:
        """Write an entry; ``label`` describes it for people."""
        if len(body) >= LARGEST:
            return
        blob = encode(key, environment, body, self.secret, label[:200].encode(errors="replace"))
        limit = cache_max_size.value
        if len(blob) < cache_min_bytes.value:
            return
        if 0 <= limit < len(blob):
            _warn_once(
                f"a compiled program of {len(blob)} bytes is not written to the compilation cache "
                f"in {self.folder}, which may take {limit} (compilation_cache_max_size)."
            )
            return
        name = self.name(key, environment)
        try:
            make_folders(self.folder)  # another process may have deleted it
            if limit >= 0:
                evict(self.folder, limit - len(blob))
            write_entry(self.folder, name, blob, self.secret is not None)
            if limit >= 0:
                evict(self.folder, limit, name)
        except OSError as e:
            _warn_cannot_write(self.folder, e)


_tidied: set[str] = set()
_warned: set[str] = set()


def open_store() -> Store | None:
    """The cache, whose folder is made if need be; None, after a warning, if none can be used."""
    path: str | None = cache_dir.value
    secret = None
    if path is None or cache_max_size.value == 0:
        return None
    try:
        path = os.path.abspath(Path(path).expanduser())
        make_folders(path)
        if cache_signed.value:
            secret = user_secret()
        else:
            check_folder(path)
    except UntrustedFile as e:
        _warn_once(
            f"the compilation cache in {path} is not used: {e}. What is read from a cache is run "
            "as code. Give compilation_cache_dir a directory that you alone can write to (chmod "
            "go-w), or set compilation_cache_signed, so that only entries with the signature of "
            "your own secret are loaded."
        )
        return None
    except OSError as e:
        _warn_cannot_write(path, e)
        return None
    except RuntimeError as e:  # the user has no home directory
        _warn_once(f"the compilation cache in {path} is not used: {e} Give its whole path.")
        return None
    if path not in _tidied:
        _tidied.add(path)
        remove_left_behind(path)
    return Store(path, secret)


def _warn_cannot_write(folder: str, error: OSError) -> None:
    _warn_once(
        f"the compilation cache in {folder} cannot be written to ({error.strerror or error}); "
        "programs run all the same. Set compilation_cache_dir to a directory that can be written "
        "to, on a disk that has space."
    )


def _warn_once(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        _warn(text, 1)


def _warn(text: str, depth: int = 0) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=4 + depth)
