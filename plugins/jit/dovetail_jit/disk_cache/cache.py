"""The cache: what is asked of it, read, written, and told to the user."""

from __future__ import annotations

import hashlib
import hmac
import os
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dovetail_backends import LoweredModule, backend_of
from dovetail_core.xla import client as xla_client, execution

from ..provisional import Provisional
from .entry import LARGEST, DamagedEntry, decode, encode
from .folder import evict, make_folders, read_entry, remove_left_behind, write_entry
from .identity import environment, program_key
from .options import cache_dir, cache_max_size, cache_min_bytes, cache_min_seconds, cache_signed
from .secret import user_secret
from .trust import UntrustedFile, check_folder


class _Place(NamedTuple):
    """Where the entry of a program is, and what must be in it."""

    folder: str
    name: str
    key: bytes
    environment: bytes
    secret: bytes | None


def find_or_make(
    module: LoweredModule, device: Any, options: Mapping[str, Any], make: Callable[[], Any]
) -> tuple[Any, bool]:
    """An executable from the cache, or made and written to it; and whether it was found."""
    folder = _folder()
    if folder is None:
        return make(), False
    place = _place(folder, module, device, options)
    client = backend_of(device).client
    loaded = _read(place, client, device, module)
    if loaded is not None:
        return loaded, True
    start = time.perf_counter()
    loaded = make()
    if isinstance(loaded, Provisional):  # who makes the full one writes it, too
        return loaded, False
    if time.perf_counter() - start >= cache_min_seconds.value:
        _write(place, execution.serialize(client, loaded))
    return loaded, False


_tidied: set[str] = set()
_told: set[str] = set()


def _folder() -> tuple[str, bytes | None] | None:
    """The folder of the cache, made if need be, and the secret; None: no cache is to be used."""
    path: str = cache_dir.value
    secret = None
    if cache_max_size.value == 0:
        return None
    try:
        path = os.path.abspath(Path(path).expanduser())
        make_folders(path)
        if cache_signed.value:
            secret = user_secret()
        else:
            check_folder(path)
    except UntrustedFile as e:
        _tell_once(
            f"the compilation cache in {path} is not used: {e}. What is read from a cache is run "
            "as code. Give compilation_cache_dir a directory that you alone can write to (chmod "
            "go-w), or set compilation_cache_signed, so that only entries with the signature of "
            "your own secret are loaded."
        )
        return None
    except OSError as e:
        _tell_cannot_write(path, e)
        return None
    except RuntimeError as e:  # the user has no home directory
        _tell_once(f"the compilation cache in {path} is not used: {e} Give its whole path.")
        return None
    if path not in _tidied:
        _tidied.add(path)
        remove_left_behind(path)
    return path, secret


def _place(
    found: tuple[str, bytes | None], module: LoweredModule, device: Any, options: Mapping[str, Any]
) -> _Place:
    folder, secret = found
    key, around = program_key(module, device, options), environment(device)
    # Users with secrets of their own do not replace each other's entries.
    digest = hmac.digest(secret, key + around, "sha256") if secret else _sha256(key + around)
    return _Place(folder, f"{digest.hex()}.bin", key, around, secret)


def _sha256(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _read(place: _Place, client: Any, device: Any, module: LoweredModule) -> Any:
    path = os.path.join(place.folder, place.name)
    try:
        blob = read_entry(place.folder, place.name, place.secret is not None)
        body = decode(blob, place.key, place.environment, place.secret)
        if body is None:
            return None
        devices = module.partition.devices if module.partition else xla_client.device_list([device])
        return execution.deserialize(client, body, devices, host_callbacks=module.host_callbacks)
    except FileNotFoundError:
        return None
    except Exception as e:
        reason = str(e) if isinstance(e, (DamagedEntry, UntrustedFile)) else repr(e)
        _tell(
            f"the compilation cache entry {path} is damaged, or not a cache entry: {reason}. It is "
            "not used: the program is compiled again and the entry replaced."
        )
        return None


def _write(place: _Place, body: bytes) -> None:
    if len(body) >= LARGEST:
        return
    blob = encode(place.key, place.environment, body, place.secret)
    limit = cache_max_size.value
    if len(blob) < cache_min_bytes.value:
        return
    if 0 <= limit < len(blob):
        _tell_once(
            f"a compiled program of {len(blob)} bytes is not written to the compilation cache in "
            f"{place.folder}, which may take {limit} (compilation_cache_max_size)."
        )
        return
    try:
        make_folders(place.folder)  # somebody may have deleted it
        if limit >= 0:
            evict(place.folder, limit - len(blob))
        write_entry(place.folder, place.name, blob, place.secret is not None)
        if limit >= 0:
            evict(place.folder, limit, place.name)
    except OSError as e:
        _tell_cannot_write(place.folder, e)


def _tell_cannot_write(folder: str, error: OSError) -> None:
    _tell_once(
        f"the compilation cache in {folder} cannot be written to ({error.strerror or error}); "
        "programs run all the same. Set compilation_cache_dir to a directory that can be written "
        "to, on a disk that has space."
    )


def _tell_once(text: str) -> None:
    if text not in _told:
        _told.add(text)
        _tell(text, 1)


def _tell(text: str, depth: int = 0) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=4 + depth)
