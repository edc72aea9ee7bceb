"""Addresses of processes."""

from __future__ import annotations

import errno
import socket
import time

from dovetail_base.source import here


def parse(name: str, address: object) -> tuple[str, int]:
    """Host and port of ``host:port``.

    Raises:
        ValueError: it is something else.
    """
    host, colon, port = str(address).rpartition(":")
    if not colon or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError(
            f"{name} must be 'host:port' with a port between 1 and 65535, got {address!r}{here()}."
        )
    return host.strip("[]"), int(port)


def spell(host: str, port: int) -> str:
    """The address as text."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at an address.

    Raises:
        RuntimeError: the port is in use, or the host is not this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    result = socket.socket(family, socket.SOCK_STREAM)
    result.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        result.bind((host, port))
        result.listen(128)
    except (OSError, OverflowError) as e:
        result.close()
        taken = getattr(e, "errno", 0) == errno.EADDRINUSE
        why = "the port is in use, by another job perhaps" if taken else str(e)
        raise RuntimeError(
            f"process 0 cannot listen at {spell(host, port)}{here()}: {why}. Give another "
            "coordinator_address (to all processes)."
        ) from None
    return result


def free_port(host: str) -> int:
    """A port that is free now."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as s:
        s.bind((host, 0))
        return s.getsockname()[1]


def reserve(host: str) -> socket.socket:
    """A socket that reserves a free port, at which :func:`listen` may listen: the system does not
    assign the port to others."""
    result = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    result.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    result.bind((host, 0))
    return result


def connect(host: str, port: int, seconds: float) -> socket.socket:
    """A connection, tried until it is accepted.

    Raises:
        TimeoutError: it was not in time; says why.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            result = socket.create_connection((host, port), max(until - time.monotonic(), 0.1))
            if result.getsockname() != result.getpeername():
                return result
            result.close()  # connected to itself: the system chose this port, where nothing listens
        except OSError as e:
            if time.monotonic() + 0.1 > until:
                raise TimeoutError(str(e)) from None
        time.sleep(0.1)


def is_loopback(host: str) -> bool:
    """True if an address is a loopback address."""
    return host == "localhost" or host == "::1" or host.startswith("127.")


def own_address(coordinator: str) -> str | None:
    """The address of this machine's network interface towards the coordinator; None if unknown."""
    host, port = parse("coordinator_address", coordinator)
    try:
        infos = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
        with socket.socket(infos[0][0], socket.SOCK_DGRAM) as s:
            s.connect(infos[0][4])  # sends nothing
            return s.getsockname()[0]
    except OSError:
        return None
