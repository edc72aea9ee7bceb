"""Profiles: what the runtime did when, and what is in memory."""

from __future__ import annotations

from typing import Any

from . import _bindings as _b
from ._bindings import Client
from ._lazy import load


def _profiler() -> Any:
    return load("_profiler")


def start_session(*, python_tracer: bool = False, host_tracer_level: int = 2) -> Any:
    """A running profile session; its `stop()` gives XSpace bytes, `stop_and_export(dir)` files.

    Let one run at a time: a second is accepted in silence, and both are then incomplete.
    """
    profiler = _profiler()
    options = profiler.ProfileOptions()
    options.python_tracer_level = int(python_tracer)
    options.host_tracer_level = host_tracer_level
    return profiler.ProfilerSession(options)


def annotation(name: str, **metadata: Any) -> Any:
    """A context manager that names a span in the profile; 0.2 us when no session runs."""
    return _profiler().TraceMe(name, **metadata)


def start_server(port: int) -> Any:
    """Lets profiling tools connect to this process; runs until the returned object is dropped."""
    return _profiler().start_server(port)


def memory_profile(client: Client) -> bytes:
    """What holds device memory, as a pprof protocol buffer."""
    return client.heap_profile()


def memory_profile_json(profile: bytes) -> str:
    """A pprof profile as JSON text."""
    return _b.pprof_profile_to_json(profile)
