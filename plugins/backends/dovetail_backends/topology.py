"""The public functions that list devices and processes."""

from __future__ import annotations

from typing import Any

from dovetail_core import here

# The parameters named `backend` are JAX's; inside the functions they would hide this one.
from .selection import backend as _backend

_PUBLIC_NAMES = {"cuda": "gpu", "rocm": "gpu"}


def default_backend() -> str:
    """The name of the platform that computations run on by default: ``cpu``, ``gpu``, ``tpu``."""
    platform: str = _backend().platform
    return _PUBLIC_NAMES.get(platform, platform)


def devices(backend: str | None = None) -> list[Any]:
    """The devices of a platform (by default of the default one).

    Raises:
        RuntimeError: the platform is unknown or not usable; says why and what to install.
    """
    return _backend(backend).devices()


def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Any]:
    """The devices attached to a process (by default to this one).

    Raises:
        ValueError: there is no such process.
    """
    index = process_index if process_index is not None else host_id
    found = _backend(backend)
    if index is None:
        return found.local_devices()
    if index not in process_indices(backend):
        raise ValueError(
            f"no process has index {index}; there are {process_indices(backend)}{here()}"
        )
    return [d for d in found.devices() if d.process_index == index]


def device_count(backend: str | None = None) -> int:
    """How many devices a platform has."""
    return len(devices(backend))


def local_device_count(backend: str | None = None) -> int:
    """How many devices are attached to this process."""
    return len(local_devices(backend=backend))


def process_index(backend: str | None = None) -> int:
    """The number of this process among those that compute together."""
    return local_devices(backend=backend)[0].process_index


def process_indices(backend: str | None = None) -> list[int]:
    """The numbers of all processes that compute together."""
    return sorted({d.process_index for d in devices(backend)})


def process_count(backend: str | None = None) -> int:
    """How many processes compute together."""
    return len(process_indices(backend))
