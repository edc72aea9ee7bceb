"""A backend that compiles StableHLO through PJRT: one instance per platform."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dovetail_base.environment import flag
from dovetail_base.source import called, short_repr
from dovetail_core import ShapedArray
from dovetail_xla import client as xla_client, execution, fork, options as xla_options, startup
from dovetail_xla.config import set_tracebacks_enabled

from .facts import ModuleFacts
from .module import LoweredModule

startup.prime(lambda shape, dtype, weak_type: ShapedArray(shape, dtype, weak_type))


class PjrtBackend:
    """A platform: its client (made when first needed), devices and compiler.

    Args:
        platform: public name, such as ``"cpu"``.
        make_client: starts the runtime; raises RuntimeError with a remedy where it cannot.
        priority: the available backend of highest priority is the default one.
        options_for: returns compile options by the facts of a module (None if nothing is known of
            it); the user's options take precedence.
    """

    def __init__(
        self,
        platform: str,
        make_client: Callable[[], Any],
        priority: int,
        available: Callable[[], str],
        options_for: Callable[[ModuleFacts | None], Mapping[str, Any]] | None = None,
    ) -> None:
        self.platform = platform
        self.priority = priority
        self._available = available
        self._options_for = options_for
        self._make_client = make_client
        self._client: Any = None
        self._lock = threading.Lock()

    def problem(self) -> str:
        """The reason why the backend cannot be used here, or an empty string; does not start it."""
        return self._available()

    @property
    def client(self) -> Any:
        """The PJRT client; starts the runtime at first use."""
        if self._client is None:
            fork.watch()  # ahead of the lock, which another thread of a parent may hold for ever
            self._import()
            with self._lock:  # a second client would take a device's memory a second time
                if self._client is None:
                    # Tracebacks in arrays cost 0.2 us of the 4 us of a call.
                    set_tracebacks_enabled(flag("runtime_tracebacks"))
                    client = self._make_client()
                    _by_client[id(client)] = self
                    self._client = client
        return self._client

    def _import(self) -> None:
        """Import the modules that a start needs. Under a lock nothing may be imported, since a
        thread that waits for the lock may hold the lock of an import."""
        xla_client.import_runtime()

    @property
    def started(self) -> bool:
        return self._client is not None

    def devices(self) -> list[Any]:
        """All devices of the platform."""
        return list(self.client.devices())

    def local_devices(self) -> list[Any]:
        """The devices attached to this process."""
        return list(self.client.local_devices())

    def compile(
        self, module: LoweredModule, device: Any, options: Mapping[str, Any] | None, profile: Any
    ) -> Any:
        """Compile for a device, or those of the module's partition; returns an executable."""
        given = dict(self._options_for(module.facts()) if self._options_for else {})
        if profile == "quick":
            given.pop(xla_options.LEVEL, None)  # the profile has its own
        given.update(options or {})
        devices, more = xla_client.device_list([device]), dict[str, Any]()
        if module.partition is not None:
            devices, more = module.partition.devices, _partitioned(module)
        compile_options = xla_options.compile_options(
            self.client, profile, device_ids=[d.id for d in devices], compiler_options=given, **more
        )
        return execution.compile(
            self.client, module.text, devices, compile_options, module.host_callbacks
        )


def _partitioned(module: LoweredModule) -> dict[str, Any]:
    """Compile options of a program on several devices: their number, and the arguments and results
    whose shardings XLA chooses."""
    partition = module.partition
    assert partition is not None
    if len(partition.devices) == 1:
        return {}
    kept = [s for s, keep in zip(partition.ins, module.kept) if keep]
    given = [*[None] * len(module.const_args), *kept]
    return {
        "num_partitions": len(partition.devices),
        "propagate_to_parameters": [s is None for s in given],
        "propagate_to_outputs": [s is None for s in partition.outs],
    }


_by_client: dict[int, PjrtBackend] = {}


def started_backends() -> list[PjrtBackend]:
    """The backends that have a client."""
    return list(_by_client.values())


def backend_of(device: Any) -> PjrtBackend:
    """The backend that a device belongs to."""
    try:
        return _by_client[id(device.client)]
    except AttributeError:
        raise TypeError(
            f"device must be a device, got {short_repr(device)} of type {type(device).__name__}"
            f"{called()}. Give for example dovetail.devices('cpu')[0]."
        ) from None


def devices_of(backends: Sequence[PjrtBackend]) -> list[Any]:
    """All devices of several backends."""
    return [d for b in backends for d in b.devices()]
