"""The provider ``disk_cache``: executables are read, or made and written."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from typing import Any

from dovetail_backends import LoweredModule, backend_of
from dovetail_xla import client as xla_client, execution
from dovetail_xla.stripping import is_stripped, strip_hlo

from ..call.digest import program_key
from ..call.executable import Runnable
from ..call.providers import Make, made_of, provide
from ..call.request import Request, all_options, compilation_key, compile_anew
from .identity import environment
from .options import cache_min_seconds
from .store import Store, open_store


def get(request: Request, make: Make) -> Runnable | None:
    """An executable from the cache, or made and written to it; None where there is no cache."""
    store = open_store()
    if store is None:
        return None
    module, device, key = request.module, request.device, request.digest()
    loaded = load_executable(store, key, device, module)
    if loaded is not None:
        return made_of(request, loaded, was_loaded=True)
    start = time.perf_counter()
    made = make()
    # Who makes the full one in place of a provisional one writes it, too.
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
        store.write(_key_of_whole(key), environment(device), body, f"whole {module.name}")


def _key_of_whole(key: bytes) -> bytes:
    """The key of the whole executable of which a lighter one is under ``key``."""
    return hashlib.sha256(key + b"whole").digest()


def load_executable(store: Store, key: bytes, device: Any, module: LoweredModule) -> Any:
    """The executable under ``key``; None where there is none that can be used."""
    client = backend_of(device).client

    def use(body: bytes) -> Any:
        devices = module.partition.devices if module.partition else xla_client.device_list([device])
        return execution.deserialize(client, body, devices, host_callbacks=module.host_callbacks)

    return store.read(key, environment(device), use)


def whole_executable(
    module: LoweredModule, device: Any, options: Mapping[str, Any], loaded: Any
) -> Any:
    """The executable of a module to look at: ``loaded``, unless that is a lighter one (see
    ``dovetail_xla.stripping``), in whose place the whole one is read, or else made again."""
    if module.platform != "cpu" or not is_stripped(execution.hlo_text(loaded)):
        return loaded
    given = all_options(module.platform, options)
    store = open_store()
    result = None
    if store is not None:
        key = _key_of_whole(program_key(module, device, given))
        result = load_executable(store, key, device, module)
    return compile_anew(module, device, given, "default") if result is None else result


def compile_with_cache(
    module: LoweredModule, device: Any, options: Mapping[str, Any] | None, profile: str = "default"
) -> tuple[Any, bool]:
    """The runtime's executable of a module that somebody else has lowered, and whether it came from
    the cache."""
    target = device if module.partition is None else module.partition
    key = compilation_key(target, options=options, profile=profile)
    made = provide(Request(None, module.name, key, options, is_asked_for=True, module=module))
    assert made.compiled is not None
    return made.compiled.loaded, made.compiled.was_loaded
