"""What an entry is of: the program with its options, and the environment it was compiled in."""

from __future__ import annotations

import hashlib
import json
import os
import platform as machine
from collections.abc import Mapping
from functools import cache
from typing import Any

from dovetail_backends import LoweredModule
from dovetail_core import registry
from dovetail_core.registry.entries import installed_version
from dovetail_core.registry.hooked import has_hooks, manager
from dovetail_xla import client, transforms
from dovetail_xla.version import JAXLIB_VERSION

_VARIABLES = ("XLA_FLAGS", "LIBTPU_INIT_ARGS")


def program_key(module: LoweredModule, device: Any, options: Mapping[str, Any]) -> bytes:
    """32 bytes for the program, its options, its device and who compiles it."""
    facts = (
        module.text, module.platform, _devices(module, device), _whose_backend(module.platform),
        *facts_of_compiling(options),
    )  # fmt: skip
    return hashlib.sha256(repr(facts).encode()).digest()


def facts_of_compiling(options: Mapping[str, Any]) -> tuple[Any, ...]:
    """What the result of compiling depends on beside the program: options, compilers, variables."""
    compilers: list[str] = []
    if has_hooks("dovetail_compile"):
        names = [i.plugin_name for i in manager().hook.dovetail_compile.get_hookimpls()]
        plugins = registry().plugins
        compilers = [plugins[n].whose if n in plugins else n for n in names]
    compilers += transforms.names()
    variables = [os.environ.get(name, "") for name in _VARIABLES]
    return sorted(options.items()), compilers, variables


def _whose_backend(platform: str) -> str:
    """The plugin with the backend of a platform, which may add options of its own, and its
    version."""
    found = registry()
    return found.owner("backends", platform).whose if platform in found.entries("backends") else ""


def _devices(module: LoweredModule, device: Any) -> Any:
    """The devices, and whose shardings the compiler chose: its text says that of no other."""
    part = module.partition
    if part is None:
        return device.id
    return part.ids, [s is None for s in part.ins], [s is None for s in part.outs]


@cache
def environment(device: Any) -> bytes:
    """The versions, the kind of device and the processor, as text."""
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
    """What the processor can do, in the order of the alphabet; its name where that is not told."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip().lower() in ("flags", "features"):
                    return " ".join(sorted(value.split()))
    except OSError:  # not Linux
        pass
    return machine.processor()
