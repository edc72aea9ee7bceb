"""Servers from which tools such as XProf fetch profiles of a running process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any

from dovetail_backends import backend
from dovetail_base import arguments
from dovetail_base.source import called
from dovetail_xla import profiling

_server: Any = None
_lock = threading.Lock()


def start_server(port: int, requires_backend: bool = True) -> Any:
    """Let tools fetch profiles of this process from ``port``, until :func:`stop_server`.

    Args:
        requires_backend: start the default backend first, so that its devices are in profiles.

    Returns: the server, which lives until it is stopped.

    Raises:
        ValueError: there is a server already, or the number is no port.
        OSError: the port is taken.
    """
    global _server
    number = arguments.integer("port", port)
    if not 0 < number < 65536:
        raise ValueError(f"port must be a number between 1 and 65535, got {number}{called()}")
    with _lock:
        if _server is not None:
            raise ValueError(
                f"a server for profiles is running{called()}, and there can be one at a time. End "
                "it with stop_server()."
            )
        _check_free(number)
        if requires_backend:
            backend().local_devices()
        _server = profiling.start_server(number)
        return _server


def _check_free(port: int) -> None:
    """Refuse a port that is taken: the runtime only logs that it cannot have it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError as e:
            raise OSError(
                e.errno, f"port {port} cannot be used{called()} ({e.strerror}): choose another one"
            ) from None


def stop_server() -> None:
    """End the server that :func:`start_server` began.

    Raises:
        ValueError: there is none.
    """
    global _server
    with _lock:
        if _server is None:
            raise ValueError(
                f"no server for profiles is running{called()}: begin one with start_server(port)"
            )
        _server = None


def register_subprocess(pid: int, port: int) -> Callable[[], None]:
    """Let profiles of this process hold those of process ``pid``, whose server is at ``port``.

    Returns: a function that undoes it.

    Raises:
        RuntimeError: the runtime refuses, for example a process that is registered already.
    """
    return profiling.register_subprocess(
        arguments.integer("pid", pid), arguments.integer("port", port)
    )
