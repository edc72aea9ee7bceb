"""The CPU backend: always available."""

from __future__ import annotations

from typing import Any

from dovetail_core import Option, config

from .pjrt.backend import PjrtBackend


def _count(value: Any) -> int:
    n = int(value)
    if n < 1:
        raise ValueError(f"expected a number of devices, at least 1, got {n}")
    if BACKEND.started and n != len(BACKEND.devices()):
        raise ValueError(
            f"the CPU is already in use as {len(BACKEND.devices())} device(s): set this before "
            "the first array is made, or by the environment variable DOVETAIL_NUM_CPU_DEVICES"
        )
    return n


def _make_client() -> Any:
    from dovetail_core.xla.client import make_cpu_client

    return make_cpu_client(num_cpu_devices.value)


BACKEND = PjrtBackend("cpu", _make_client, priority=0, available=lambda: "")
num_cpu_devices = config.add(
    Option("num_cpu_devices", 1, "Into how many devices the CPU is divided.", check=_count)
)
