"""The on-disk compilation cache: compiled programs keyed by everything that shapes them."""

from __future__ import annotations

import hashlib
import os
import platform as machine
import tempfile
import time
import warnings
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dovetail_backends import LoweredModule, backend_of
from dovetail_core import Option, config
from dovetail_core.registry.hooks import has_hooks, manager
from dovetail_core.xla import client as xla_client, execution
from dovetail_core.xla.version import JAXLIB_VERSION

compilation_cache_dir = config.add(
    Option(
        "compilation_cache_dir", None, "Directory of the on-disk compilation cache; None: no cache."
    )
)
cache_min_seconds = config.add(
    Option(
        "persistent_cache_min_compile_time_secs",
        0.0,
        "Programs that compile faster than this are not written to the cache.",
        check=float,
    )
)
_MAGIC = b"dovetail-executable-1\n"


def compile_with_cache(
    module: LoweredModule, device: Any, options: Mapping[str, Any] | None, profile: str
) -> tuple[Any, bool]:
    """The runtime's executable, and whether it came from the cache."""
    directory = compilation_cache_dir.value
    backend = backend_of(device)
    given = _all_options(module.platform, options)
    if directory is None or profile != "default":
        return _compile(backend, module, device, given, profile), False
    path = Path(directory).expanduser() / f"{_key(module, device, given)}.bin"
    loaded = _read(path, backend, device, module.host_callbacks)
    if loaded is not None:
        return loaded, True
    start = time.perf_counter()
    loaded = _compile(backend, module, device, given, profile)
    if time.perf_counter() - start >= cache_min_seconds.value:
        _write(path, execution.serialize(backend.client, loaded))
    return loaded, False


def _all_options(platform: str, options: Mapping[str, Any] | None) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    if has_hooks("dovetail_compile_options"):
        for found in reversed(manager().hook.dovetail_compile_options(platform=platform)):
            merged.update(found)
    return {**merged, **(options or {})}


def _compile(
    backend: Any, module: LoweredModule, device: Any, options: dict[str, Any], profile: str
) -> Any:
    if profile == "default" and has_hooks("dovetail_compile"):
        found = manager().hook.dovetail_compile(
            module=module.text, platform=module.platform, options=options
        )
        if found is not None:
            return found
    return backend.compile(module, device, options, profile)


def _key(module: LoweredModule, device: Any, options: dict[str, Any]) -> str:
    facts = (
        module.text, module.platform, device.id, device.client.platform_version, JAXLIB_VERSION,
        machine.machine(), sorted(options.items()), os.environ.get("XLA_FLAGS", ""),
    )  # fmt: skip
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def _read(path: Path, backend: Any, device: Any, callbacks: tuple[Any, ...]) -> Any:
    try:
        blob = path.read_bytes()
    except OSError:
        return None
    try:
        if not blob.startswith(_MAGIC):
            raise ValueError("it does not begin as a cache entry does")
        body = zlib.decompress(blob[len(_MAGIC) :])  # its checksum guards the executable's code
        devices = xla_client.device_list([device])
        return execution.deserialize(backend.client, body, devices, host_callbacks=callbacks)
    except Exception as e:
        warnings.warn(
            f"the compilation cache entry {path} is damaged ({type(e).__name__}: {e}). The "
            "program is compiled again and the entry replaced.",
            RuntimeWarning,
            stacklevel=2,
        )
        return None


def _write(path: Path, body: bytes) -> None:
    """Write beside the entry and rename, so that a reader never sees half of one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as f:
            f.write(_MAGIC + zlib.compress(body, 1))
        os.replace(f.name, path)
    except OSError as e:
        warnings.warn(
            f"the compilation cache entry {path} cannot be written ({e}); the program runs all the "
            "same. Set compilation_cache_dir to a directory that can be written.",
            RuntimeWarning,
            stacklevel=2,
        )
