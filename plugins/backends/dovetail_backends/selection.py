"""Which backend and device a computation runs on."""

from __future__ import annotations

from typing import Any

from dovetail_core import Option, config, registry

default_device = config.add(
    Option("default_device", None, "The device that new arrays and computations go to.", traced=True)
)
platforms = config.add(
    Option("platforms", None, "Comma-separated names of the backends that may be used, best first.")
)


def backend(platform: str | None = None) -> Any:
    """The backend of a platform, or the default one: the best that is available.

    Raises:
        RuntimeError: the platform is unknown or not available; says why and what to install.
    """
    if platform is not None:
        return _checked(platform)
    if platforms.value:
        return _checked(str(platforms.value).split(",")[0].strip())
    global _default
    if _default is None:
        _default = _best()
    return _default


_default: Any = None


def _best() -> Any:
    ranked = sorted(
        (registry().backend(n) for n in registry().entries("backends")),
        key=lambda b: -b.priority,
    )
    for b in ranked:
        if b.priority >= 0 and not b.problem():
            return b
    raise RuntimeError("no backend is available: the plugin 'backends' provides 'cpu'")


def _checked(platform: str) -> Any:
    known = registry().entries("backends")
    name = {"gpu": "cuda"}.get(platform, platform)
    if name not in known:
        raise RuntimeError(f"unknown backend {platform!r}; known: {', '.join(sorted(known))}")
    found = registry().backend(name)
    problem = found.problem()
    if problem:
        raise RuntimeError(f"backend {platform!r} is not available: {problem}")
    return found


def target_device() -> Any:
    """The device for uncommitted work: the option ``default_device``, else the first local one."""
    chosen = default_device.value
    if chosen is None:
        return backend().local_devices()[0]
    return backend(chosen).local_devices()[0] if isinstance(chosen, str) else chosen


def default_backend() -> str:
    """The name of the platform that computations run on by default."""
    return backend().platform


def devices(backend_name: str | None = None) -> list[Any]:
    """The devices of a platform (by default of the default one)."""
    return backend(backend_name).devices()


def local_devices(
    process_index: int | None = None, backend_name: str | None = None, host_id: int | None = None
) -> list[Any]:
    """The devices attached to a process (by default to this one)."""
    index = process_index if process_index is not None else host_id
    b = backend(backend_name)
    if index is None:
        return b.local_devices()
    return [d for d in b.devices() if d.process_index == index]


def device_count(backend_name: str | None = None) -> int:
    """How many devices a platform has."""
    return len(devices(backend_name))


def local_device_count(backend_name: str | None = None) -> int:
    """How many devices are attached to this process."""
    return len(local_devices(backend_name=backend_name))


def process_index(backend_name: str | None = None) -> int:
    """The number of this process among those that compute together."""
    return backend(backend_name).client.process_index()


def process_count(backend_name: str | None = None) -> int:
    """How many processes compute together."""
    return 1 + max(d.process_index for d in devices(backend_name))
