"""Executables in the cache: read, or made and written."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from typing import Any

from dovetail_backends import LoweredModule, backend_of
from dovetail_xla import client as xla_client, execution
from dovetail_xla.lighter import lighter

from ..provisional import Provisional
from .identity import environment, program_key
from .options import cache_min_seconds
from .store import Store, open_store


def find_or_make(
    module: LoweredModule, device: Any, options: Mapping[str, Any], make: Callable[[], Any]
) -> tuple[Any, bool]:
    """An executable from the cache, or made and written to it; and whether it was found."""
    store = open_store()
    if store is None:
        return make(), False
    key = program_key(module, device, options)
    loaded = load_executable(store, key, device, module)
    if loaded is not None:
        return loaded, True
    start = time.perf_counter()
    loaded = make()
    if isinstance(loaded, Provisional):  # who makes the full one writes it, too
        return loaded, False
    if time.perf_counter() - start >= cache_min_seconds.value:
        body = execution.serialize(backend_of(device).client, loaded)
        light = lighter(body) if module.platform == "cpu" else None
        store.write(key, environment(device), light or body, f"executable {module.name}")
        if light is not None:
            store.write(key_of_whole(key), environment(device), body, f"whole {module.name}")
    return loaded, False


def key_of_whole(key: bytes) -> bytes:
    """The key of the whole executable of which a lighter one is under ``key``."""
    return hashlib.sha256(key + b"whole").digest()


def load_executable(store: Store, key: bytes, device: Any, module: LoweredModule) -> Any:
    """The executable under ``key``; None where there is none that can be used."""
    client = backend_of(device).client

    def use(body: bytes) -> Any:
        devices = module.partition.devices if module.partition else xla_client.device_list([device])
        return execution.deserialize(client, body, devices, host_callbacks=module.host_callbacks)

    return store.read(key, environment(device), use)
