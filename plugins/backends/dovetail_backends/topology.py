"""The public functions that list devices and processes."""

from __future__ import annotations

import platform
import sys
from typing import Any

from dovetail_base.deprecation import deprecated_in_jax
from dovetail_base.entry_points import installed_version
from dovetail_base.foreign import reword_errors
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
    if host_id is not None:
        _warn_of_old("local_devices(host_id=...)", "local_devices(process_index=...)")
    index = process_index if process_index is not None else host_id
    result = _backend(backend)
    if index is None:
        return result.local_devices()
    if index not in process_indices(backend):
        raise ValueError(
            f"Unknown process_index {index}; there are {process_indices(backend)}{here()}"
        )
    return [d for d in result.devices() if d.process_index == index]


def device_count(backend: str | None = None) -> int:
    """The number of devices of a platform."""
    return len(devices(backend))


def local_device_count(backend: str | None = None) -> int:
    """The number of devices attached to this process."""
    return len(local_devices(backend=backend))


def process_index(backend: str | None = None) -> int:
    """The number of this process among those that compute together."""
    return local_devices(backend=backend)[0].process_index


def process_indices(backend: str | None = None) -> list[int]:
    """The numbers of all processes that compute together."""
    return sorted({d.process_index for d in devices(backend)})


def process_count(backend: str | None = None) -> int:
    """The number of processes that compute together."""
    return len(process_indices(backend))


@reword_errors
def host_id(backend: str | None = None) -> int:
    """An older name of :func:`process_index`."""
    _warn_of_old("host_id", "process_index")
    return process_index(backend)


@reword_errors
def host_ids(backend: str | None = None) -> list[int]:
    """An older name of :func:`process_indices`."""
    _warn_of_old("host_ids", "process_indices")
    return process_indices(backend)


@reword_errors
def host_count(backend: str | None = None) -> int:
    """An older name of :func:`process_count`."""
    _warn_of_old("host_count", "process_count")
    return process_count(backend)


def _warn_of_old(what: str, instead: str) -> None:
    deprecated_in_jax(what, instead, stacklevel=3, category=UserWarning)


def print_environment_info(return_string: bool = False) -> str | None:
    """Print the versions, devices and machine that a report of a problem should name.

    Args:
        return_string: return the text instead of printing it.
    """
    versions = {n: _version(n) for n in ("dovetail", "jaxlib", "numpy", "ml_dtypes")}
    if (version := getattr(sys.modules.get("jax"), "__version__", None)) is not None:
        versions = {"jax": version, **versions}  # the version that programs for JAX see
    result = [f"{name + ':':<7} {version}" for name, version in versions.items()]
    result.append(f"python: {sys.version}")
    here_now = devices()
    kinds = ", ".join(sorted({d.device_kind for d in here_now}))
    result.append(f"device info: {kinds}-{len(here_now)}, {len(local_devices())} local devices")
    result.append(f"process_count: {process_count()}")
    result.append(f"platform: {platform.uname()}")
    text = "\n".join(result)
    if return_string:
        return text
    print(text)
    return None


def _version(distribution: str) -> str:
    return installed_version(distribution) or "not installed as a distribution"
