"""Shardings of arrays on one device, and the class of all shardings."""

from __future__ import annotations

from typing import Any

from dovetail_xla.shardings import (
    Sharding as Sharding,
    SingleDeviceSharding as SingleDeviceSharding,
    single_device_sharding,
)


def make_single_device_sharding(
    device: Any, *, memory_kind: str | None = None
) -> SingleDeviceSharding:
    """The sharding of arrays on one device.

    Raises:
        ValueError: the device has no such memory; names those that it has.
    """
    return single_device_sharding(device, memory_kind)
