"""``jax.experimental.colocated_python`` (orbax): Python functions that run beside the devices that
their arguments are on. Devices of this process are beside it, so they run here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import func as func, serialization as serialization
from .func import colocated_python as colocated_python


def colocated_python_class(cls: type[Any]) -> type[Any]:
    """A class whose objects live beside the devices of their methods' arguments."""
    return cls


def colocated_cpu_devices(devices_or_mesh: Any) -> Any:
    """The CPU devices beside some devices, or a mesh of them.

    Raises:
        ValueError: a device is no CPU, and beside which of them it is, is not known.
    """
    devices = getattr(devices_or_mesh, "devices", devices_or_mesh)
    flat: Sequence[Any] = list(getattr(devices, "flat", devices))
    for d in flat:
        if d.platform != "cpu":
            raise ValueError(
                f"the device {d} is no CPU, and Dovetail does not know which CPU devices are "
                "beside it. Pass devices of the platform 'cpu'."
            )
    return devices_or_mesh if hasattr(devices_or_mesh, "axis_names") else flat
