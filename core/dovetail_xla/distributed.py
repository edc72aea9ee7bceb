"""The runtime's coordination service, its clients, and collectives between processes on CPUs."""

from __future__ import annotations

import os
from typing import Any

from . import bindings as _b
from .bindings import (
    DistributedRuntimeClient as DistributedRuntimeClient,
    DistributedRuntimeService as DistributedRuntimeService,
)

# When the service takes another process for lost, a thread of C++ ends this one (SIGABRT) without
# an error that Python could catch. With this time limit, in seconds, it never does.
_NEVER = 1_000_000


def serve(address: str, processes: int, shutdown_timeout: int) -> DistributedRuntimeService:
    """Starts the service. It does not notice that its port is taken: bind a socket to it before."""
    return _b.get_distributed_runtime_service(
        address,
        processes,
        heartbeat_timeout=_NEVER,
        cluster_register_timeout=_NEVER,
        shutdown_timeout=shutdown_timeout,
    )


def connect(
    address: str, process: int, timeout: int, shutdown_timeout: int
) -> DistributedRuntimeClient:
    """A client of the service; returns when all processes have one. A failure to connect in
    `timeout` seconds ends the process: make sure before that all processes run."""
    client = _b.get_distributed_runtime_client(
        address,
        process,
        init_timeout=timeout,
        shutdown_timeout=shutdown_timeout,
        heartbeat_timeout=_NEVER,
        shutdown_on_destruction=False,
        use_compression=True,
    )
    client.connect()
    return client


_TIMEOUT = "--xla_cpu_collective_timeout_seconds"


def limit_collectives(seconds: int) -> None:
    """Set the time after which a collective of Gloo fails (by default half an hour); to be called
    before a client is made. A limit in the variable XLA_FLAGS stays."""
    flags = os.environ.get("XLA_FLAGS")
    if flags is not None and _TIMEOUT in flags:
        return
    os.environ["XLA_FLAGS"] = f"{flags or ''} {_TIMEOUT}={seconds}"
    try:  # XLA reads the variable once, when it is first asked for options
        _ = _b.CompileOptions().executable_build_options.debug_options
    finally:  # processes that this one starts have limits of their own
        if flags is None:
            del os.environ["XLA_FLAGS"]
        else:
            os.environ["XLA_FLAGS"] = flags


def timed_out(error: BaseException) -> bool:
    """Return whether a program failed since other processes did not join one of its collectives."""
    text = str(error)
    return "Gloo" in text and "Timed out waiting" in text


def gloo_collectives(client: DistributedRuntimeClient, hostname: str | None = None) -> Any:
    """Collectives over TCP; `hostname` is the name at which other processes reach this one."""
    return _b.make_gloo_tcp_collectives(distributed_client=client, hostname=hostname)


def mpi_collectives() -> Any:
    """Collectives by MPI, initialised. RuntimeError if no MPI library is configured."""
    make = _b.make_mpi_collectives
    if make is None:
        raise RuntimeError("this jaxlib was built without collectives by MPI: use gloo")
    if not os.environ.get("MPITRAMPOLINE_LIB"):  # the process would end here
        raise RuntimeError(
            "collectives by MPI need a library of MPI that MPIwrapper has wrapped: set the "
            "environment variable MPITRAMPOLINE_LIB to its path, or use gloo"
        )
    result = make()
    result.Init()
    return result


def preemption_watch(client: DistributedRuntimeClient) -> Any:
    """The manager that tells all processes the step at which to save their state, when one of them
    is about to be ended."""
    result = _b.create_preemption_sync_manager()
    result.initialize(client)
    return result
