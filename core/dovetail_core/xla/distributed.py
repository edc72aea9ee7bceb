"""Several processes as one: the coordination service, its clients, and host collectives."""

from __future__ import annotations

from typing import Any

from . import _bindings as _b
from ._bindings import (
    DistributedRuntimeClient as DistributedRuntimeClient,
    DistributedRuntimeService as DistributedRuntimeService,
)

# When a process dies, the runtime ends the others after the heartbeat timeout (seconds). A Python
# callback cannot prevent it: giving one aborts the process instead. Supervise from outside.


def start_service(
    address: str,
    num_processes: int,
    *,
    heartbeat_timeout: int = 100,
    cluster_register_timeout: int = 300,
    shutdown_timeout: int = 300,
) -> DistributedRuntimeService:
    """The coordinator, in one process, at "[::]:port"; keep it until all clients shut down."""
    return _b.get_distributed_runtime_service(
        address,
        num_processes,
        heartbeat_timeout=heartbeat_timeout,
        cluster_register_timeout=cluster_register_timeout,
        shutdown_timeout=shutdown_timeout,
    )


def connect(
    address: str,
    process_id: int,
    *,
    init_timeout: int = 300,
    heartbeat_timeout: int = 100,
    shutdown_timeout: int = 300,
) -> DistributedRuntimeClient:
    """A connected client of the service at "host:port": a key-value store and barriers.

    Raises XlaRuntimeError if the service does not answer within `init_timeout` seconds.
    """
    client = _b.get_distributed_runtime_client(
        address,
        process_id,
        init_timeout=init_timeout,
        heartbeat_timeout=heartbeat_timeout,
        shutdown_timeout=shutdown_timeout,
        use_compression=True,
    )
    client.connect()
    return client


def gloo_collectives(
    client: DistributedRuntimeClient, hostname: str | None = None, interface: str | None = None
) -> Any:
    """Collectives of CPU devices over TCP, for `make_cpu_client(collectives=...)`."""
    return _b.make_gloo_tcp_collectives(client, hostname, interface)
