"""The provider ``disk_cache``: executables are read, or made and written."""

from __future__ import annotations

import hashlib
import json
import platform as machine
import time
from collections.abc import Callable, Mapping
from typing import Any

from dovetail_backends import LoweredModule, backend_of
from dovetail_base.caches import cached
from dovetail_base.entry_points import installed_version
from dovetail_jit import Request, Runnable, all_options, compile_uncached, made_of, program_key
from dovetail_xla import client, execution
from dovetail_xla.stripping import is_stripped, strip_hlo
from dovetail_xla.version import JAXLIB_VERSION

from .options import cache_min_seconds
from .store import Store, open_store


@cached(permanent="versions and the processor do not change in a process")
def environment(device: Any) -> bytes:
    """The versions, the kind of device and the processor that an entry is for, as text."""
    facts = {
        "dovetail": installed_version("dovetail-core") or "unknown",
        "jaxlib": ".".join(map(str, JAXLIB_VERSION)),
        "platform": device.client.platform,
        "platform_version": device.client.platform_version,
        "device_kind": device.device_kind,
        "topology": client.topology_fingerprint(device),
        "machine": machine.machine(),
        "processor_features": hashlib.sha256(_features().encode()).hexdigest(),
    }
    return json.dumps(facts, sort_keys=True).encode()


def _features() -> str:
    """The features of the processor in alphabetical order; its name if they are not known."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip().lower() in ("flags", "features"):
                    return " ".join(sorted(value.split()))
    except OSError:  # not Linux
        pass
    return machine.processor()


def get(request: Request, make: Callable[[], Runnable]) -> Runnable | None:
    """An executable from the cache, or made and written to it; None if there is no cache."""
    store = open_store()
    if store is None:
        return None
    module, device, key = request.module, request.device, request.digest()
    loaded = load_executable(store, key, device, module)
    if loaded is not None:
        return made_of(request, loaded, was_loaded=True)
    start = time.perf_counter()
    made = make()
    # The full executable that replaces a provisional one is written by its maker.
    if made.is_provisional or made.compiled is None:
        return made
    if time.perf_counter() - start >= cache_min_seconds.value:
        _write(store, key, device, module, made.compiled.loaded)
    return made


def _write(store: Store, key: bytes, device: Any, module: LoweredModule, loaded: Any) -> None:
    body = execution.serialize(backend_of(device).client, loaded)
    light = strip_hlo(body) if module.platform == "cpu" else None
    store.write(key, environment(device), light or body, f"executable {module.name}")
    if light is not None:
        store.write(_key_of_complete(key), environment(device), body, f"whole {module.name}")


def _key_of_complete(key: bytes) -> bytes:
    """The key of the complete executable of which a stripped one is under ``key``."""
    return hashlib.sha256(key + b"whole").digest()


def load_executable(store: Store, key: bytes, device: Any, module: LoweredModule) -> Any:
    """The executable under ``key``; None if there is none that can be used."""
    runtime = backend_of(device).client

    def use(body: bytes) -> Any:
        devices = module.partition.devices if module.partition else client.device_list([device])
        return execution.deserialize(runtime, body, devices, host_callbacks=module.host_callbacks)

    return store.read(key, environment(device), use)


def complete_executable(
    module: LoweredModule, device: Any, options: Mapping[str, Any], loaded: Any
) -> Any:
    """The executable of a module with its HLO: ``loaded``, unless that is stripped (see
    ``dovetail_xla.stripping``); then the complete one is read, or compiled again."""
    if module.platform != "cpu" or not is_stripped(execution.hlo_text(loaded)):
        return loaded
    given = all_options(module.platform, options)
    store = open_store()
    result = None
    if store is not None:
        key = _key_of_complete(program_key(module, device, given))
        result = load_executable(store, key, device, module)
    return compile_uncached(module, device, given, "default") if result is None else result
