"""The CPU backend: always available."""

from __future__ import annotations

from typing import Any

from dovetail_core import Option, config

from .pjrt.backend import PjrtBackend


def _count(value: Any) -> int:
    n = int(value)
    if n < 1:
        raise ValueError(f"num_cpu_devices must be at least 1, got {n}")
    return n


num_cpu_devices = config.add(
    Option("num_cpu_devices", 1, "Into how many devices the CPU is divided.", check=_count)
)


def _make_client() -> Any:
    from dovetail_core.xla.client import make_cpu_client

    return make_cpu_client(num_cpu_devices.value)


BACKEND = PjrtBackend("cpu", _make_client, priority=0, available=lambda: "")
