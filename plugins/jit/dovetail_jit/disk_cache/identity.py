"""The environment in which an entry was compiled; of which program it is says its key."""

from __future__ import annotations

import hashlib
import json
import platform as machine
from typing import Any

from dovetail_base.caches import cached
from dovetail_base.entry_points import installed_version
from dovetail_xla import client
from dovetail_xla.version import JAXLIB_VERSION


@cached(permanent="versions and the processor do not change in a process")
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
    """The features of the processor, in the order of the alphabet; its name where that is not
    told."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip().lower() in ("flags", "features"):
                    return " ".join(sorted(value.split()))
    except OSError:  # not Linux
        pass
    return machine.processor()
