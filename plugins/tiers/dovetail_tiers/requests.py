"""Requests to another process to compile a program, and its answers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from dovetail_backends import LoweredModule
from dovetail_core import config
from dovetail_xla import execution
from dovetail_xla.client import device_list

from .preparing import can_prepare, prepare

_CACHE = ("compilation_cache", "persistent_cache")


def request(
    module: LoweredModule, device: Any, options: Mapping[str, Any]
) -> tuple[dict[str, Any], bytes]:
    """A header and a body: the program, and the options that hold here."""
    header = {
        "name": module.name,
        "device": device.id,
        "options": dict(options),
        "settings": _settings(device),
    }
    return header, module.text.encode()


def _settings(device: Any) -> dict[str, Any]:
    result: dict[str, Any] = {"num_cpu_devices": len(device.client.devices())}
    for name in config.names():
        if name.startswith(_CACHE):
            value = config.read(name)
            if value is None or isinstance(value, (bool, int, float, str)):
                result[name] = value
    folder = result.get("compilation_cache_dir")
    if folder:
        result["compilation_cache_dir"] = os.path.abspath(os.path.expanduser(folder))
    return result


def load(module: LoweredModule, device: Any, body: bytes) -> Any:
    """The runtime's executable, which has run once where that is harmless."""
    loaded = execution.deserialize(device.client, body, device_list([device]))
    if can_prepare(module):
        prepare(loaded, module, device)
    return loaded
