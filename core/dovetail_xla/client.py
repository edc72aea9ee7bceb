"""Clients: the connection to the devices of a platform, built in (CPU) or from a PJRT plugin."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from . import bindings as _b, fork, startup
from .bindings import Client as Client, Device as Device, DeviceList as DeviceList
from .loading import xla_client


def import_runtime() -> None:
    """Imports the modules that make clients, as making the first client would."""
    xla_client()


def make_cpu_client(
    num_devices: int = 1,
    *,
    asynchronous: bool = True,
    distributed_client: Any = None,
    node_id: int = 0,
    num_nodes: int = 1,
    collectives: Any = None,
) -> Client:
    """A client of the host with `num_devices` devices; 3-6 ms.

    Several may exist; arrays and executables of one do not work with another. The last four
    arguments join it to other processes.
    """
    fork.watch()
    with _threads_for(num_devices):
        client: Client = xla_client().make_cpu_client(
            asynchronous=asynchronous,
            num_devices=num_devices,
            distributed_client=distributed_client,
            node_id=node_id,
            num_nodes=num_nodes,
            collectives=collectives,
        )
    fork.started(client)
    startup.ensure_primed(client.local_devices()[0])
    if _release not in gc.callbacks:
        gc.callbacks.append(_release)
    return client


@contextmanager
def _threads_for(num_devices: int) -> Generator[None]:
    """Set the number of threads of a client that is made within: two for each device.

    With one, programs of several devices wait for ever once 32 of them are in flight: starting one
    more takes the threads in which those run.
    """
    if num_devices == 1 or "NPROC" in os.environ:
        yield
        return
    os.environ["NPROC"] = str(max(2 * num_devices, os.cpu_count() or 1))
    try:
        yield
    finally:
        del os.environ["NPROC"]


def _release(phase: str, info: Any) -> None:
    """Release the Python objects, such as callbacks, of executables that C++ has destroyed.

    C++ often destroys them where it may not call Python, and only records that. This runs before a
    garbage collection, since such objects may be part of a cycle, and after it, which may destroy
    more.
    """
    _b.collect_garbage()


def ensure_primed() -> None:
    """Primes C++ as making the first CPU client does, for clients of plugins."""
    if not startup.is_primed():
        make_cpu_client()


def device_list(devices: Any) -> DeviceList:
    """A DeviceList (compared and hashed by value) from any iterable of devices."""
    return DeviceList(tuple(devices))


def topology_fingerprint(device: Device) -> int | None:
    """A number that identifies the hardware of a device's client; None if the platform has none."""
    try:
        return xla_client().get_topology_for_devices([device]).fingerprint()
    except _b.JaxRuntimeError:
        return None


def load_plugin(name: str, path: str | Path) -> Any:
    """Loads and initialises the PJRT plugin library at `path`; returns its C API capsule.

    A second call for the same name returns the capsule of the first. The Python package around a
    plugin is never imported, since it may import `jax`. Raises ValueError when the library is
    missing, cannot be opened (a library that it needs is not installed) or refuses to start.
    """
    if name in _plugins:
        return _plugins[name]
    if not Path(path).is_file():
        raise ValueError(f"the PJRT plugin {name!r} has no library at {path}")
    try:
        capsule = xla_client().load_pjrt_plugin_dynamically(name, str(path))
        if not _b.pjrt_plugin_initialized(name):
            xla_client().initialize_pjrt_plugin(name)
    except _b.JaxRuntimeError as error:
        raise ValueError(f"the PJRT plugin {name!r} at {path} did not load: {error}") from error
    _plugins[name] = capsule
    return capsule


_plugins: dict[str, Any] = {}


def loaded_plugins() -> dict[str, Any]:
    """The C API capsules of the plugins that :func:`load_plugin` loaded, by name."""
    return dict(_plugins)


def make_plugin_client(
    name: str, options: Mapping[str, Any] | None = None, distributed_client: Any = None
) -> Client:
    """A client of a plugin that is loaded; XlaRuntimeError without its hardware or driver."""
    if not _b.pjrt_plugin_loaded(name):
        raise ValueError(f"the PJRT plugin {name!r} is not loaded: call load_plugin first")
    ensure_primed()
    client = xla_client().make_c_api_client(name, dict(options or {}), distributed_client)
    fork.started(client)
    return client


def gpu_plugin_options() -> dict[str, Any]:
    """Options of a GPU plugin's client from the XLA_PYTHON_CLIENT_* environment variables."""
    return dict(xla_client().generate_pjrt_gpu_plugin_options())


def compile_only_devices(platform: str, topology: str, options: dict[str, Any]) -> list[Any]:
    """The devices of a topology, for which programs can be compiled without the hardware.

    Raises LookupError for a platform without topologies, XlaRuntimeError for an unknown one.
    """
    client = xla_client()
    if platform == "tpu":
        result = client.make_tfrt_tpu_c_api_device_topology(topology, **options)
    elif platform in _plugins:
        result = client.make_c_api_device_topology(_plugins[platform], topology, **options)
    else:
        raise LookupError(platform)
    return list(result._make_compile_only_devices())
