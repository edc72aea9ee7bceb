"""``jax.extend.backend``: the runtime's clients, and compile options."""

from __future__ import annotations

from typing import Any

from dovetail_backends import PjrtBackend, backend as _backend, target_device as _target_device
from dovetail_base.caches import entries_in as _entries_in
from dovetail_core import register_cache as _register_cache, registry as _registry
from dovetail_jit import clear_caches as _clear_caches
from dovetail_xla import options as _options
from dovetail_xla.loading import load as _load

from ...lookup import attributes as _attributes

_absent, __dir__ = _attributes("jax.extend.backend")


def get_backend(platform: Any = None) -> Any:
    """The client of a platform (by name, or a client itself), or of the default one.

    Raises:
        RuntimeError: the platform is unknown or not usable here.
    """
    return _backend(platform).client if platform is None or isinstance(platform, str) else platform


def backends() -> dict[str, Any]:
    """The clients of all platforms that can be used here."""
    _backend().client  # noqa: B018 - what is the default is started
    result = {n: _registry().backend(n) for n in _registry().entries("backends")}
    return {n: b.client for n, b in result.items() if isinstance(b, PjrtBackend) and b.started}


def get_default_device() -> Any:
    """The device that new arrays go to."""
    return _target_device()


def backend_xla_version(platform: str | None = None) -> int | None:
    """The version of XLA that a platform's plugin has; None where it is jaxlib's own."""
    return getattr(get_backend(platform), "xla_version", None)


def clear_in_memory_compilation_cache() -> None:
    """Forget what was traced and compiled in this process."""
    _clear_caches()


def clear_backends() -> None:
    """Forget what was traced and compiled, and which arrays and devices programs have seen.

    The runtime itself goes on: arrays that are alive need it.
    """
    _clear_caches()


def register_backend_cache(cache: Any, for_what: str) -> None:
    """Have a cache (with ``cache_clear``) emptied whenever Dovetail's own are.

    Args:
        for_what: what the cache is for.
    """
    _foreign.append(_Foreign(cache))


class _Foreign:
    """Another's cache, which is emptied where Dovetail's are."""

    def __init__(self, cache: Any) -> None:
        self.cache = cache
        _register_cache(self)

    def clear(self) -> None:
        self.cache.cache_clear()

    def __len__(self) -> int:
        return _entries_in(self.cache)


_foreign: list[_Foreign] = []


def get_compile_options(
    num_replicas: int,
    num_partitions: int,
    device_assignment: Any = None,
    env_options_overrides: dict[str, Any] | None = None,
    fdo_profile: bytes | None = None,
    detailed_logging: bool = True,
    backend: Any = None,
) -> Any:
    """Options for the client's own compiler (``compile_and_load``)."""
    return _options.compile_options(
        backend or get_backend(),
        num_replicas=num_replicas,
        num_partitions=num_partitions,
        device_ids=None if device_assignment is None else _ids(device_assignment),
        compiler_options=env_options_overrides,
    )


def _ids(devices: Any) -> list[int]:
    """Numbers of devices among numbers, devices, and sequences of them."""
    if isinstance(devices, (list, tuple)) or hasattr(devices, "tolist"):
        return [i for d in devices for i in _ids(d)]
    return [int(getattr(devices, "id", devices))]


def __getattr__(name: str) -> Any:
    if name == "ifrt_proxy":
        return _load("_ifrt_proxy")
    return _absent(name)
