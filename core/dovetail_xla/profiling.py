"""The runtime's profiler: sessions, annotations, servers, and what they recorded."""
# pyright: basic

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .bindings import Client, pprof_profile_to_json as pprof_profile_to_json
from .client import loaded_plugins
from .loading import load

_profiler, _data = load("_profiler"), load("_profile_data")

ProfileOptions = _profiler.ProfileOptions
TraceMe = _profiler.TraceMe
"""A context manager whose extent is an event of the trace; 0.2 us while nothing is recorded."""

ProfileData, ProfilePlane = _data.ProfileData, _data.ProfilePlane
ProfileLine, ProfileEvent = _data.ProfileLine, _data.ProfileEvent


class Session:
    """A recording, which begins when it is made. Of several at once only the first records."""

    def __init__(self, options: ProfileOptions | None = None) -> None:
        _register_plugins()
        self._session = _profiler.ProfilerSession(options or ProfileOptions())

    def stop(self) -> bytes:
        """End it; returns the serialized XSpace."""
        return self._session.stop()

    def stop_and_export(self, folder: str) -> None:
        """End it, and write its files below ``folder``; XlaRuntimeError if that fails."""
        self._session.stop_and_export(folder)


_registered: set[str] = set()


def _register_plugins() -> None:
    """Register the profilers of PJRT plugins, which alone can record their devices."""
    for name, capsule in loaded_plugins().items():
        if name not in _registered:
            _registered.add(name)
            _profiler.register_plugin_profiler(capsule)


def start_server(port: int) -> Any:
    """A server from which profiles can be fetched, as long as the object lives."""
    _register_plugins()
    return _profiler.start_server(port)


def register_subprocess(pid: int, port: int) -> Callable[[], None]:
    """Include another process in profiles of this one; returns the function that undoes it."""
    return _profiler.register_subprocess(pid, port)


def describe_session(facts: dict[str, str]) -> None:
    """Names and values that the next recording holds beside its events."""
    _profiler.clear_metadata()
    for name, value in facts.items():
        _profiler.set_metadata(name, value)


def heap_profile(client: Client) -> bytes:
    """The present contents of a client's memory, as a pprof protocol buffer, not compressed."""
    return bytes(client.heap_profile())


def profiled_instructions(folder: str) -> bytes:
    """The costs of instructions of compiled programs, from a profile's folder, in XLA's format."""
    return _profiler.get_profiled_instructions_proto(folder)
