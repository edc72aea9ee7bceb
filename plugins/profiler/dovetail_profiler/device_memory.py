"""Profiles of the memory of devices for the tool ``pprof``."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

from dovetail_backends import backend as backend_named, runs_programs
from dovetail_base.source import called
from dovetail_xla.profiling import heap_profile


def device_memory_profile(backend: str | None = None) -> bytes:
    """Arrays and programs in a backend's memory, as a compressed protocol buffer of ``pprof``.

    With ``DOVETAIL_RUNTIME_TRACEBACKS=1`` in the environment it has the traceback of each.

    Args:
        backend: a platform, as ``"cpu"``; the default backend if None.

    Raises:
        RuntimeError: there is no such backend.
        ValueError: it has no devices with a memory of their own.
    """
    result = backend_named(backend)
    if runs_programs(result):
        raise ValueError(
            f"backend {backend!r} has no devices whose memory could be profiled{called()}: name "
            "one that has, as 'cpu', or none for the default one."
        )
    return gzip.compress(heap_profile(result.client), mtime=0)


def save_device_memory_profile(
    filename: os.PathLike[str] | str, backend: str | None = None
) -> None:
    """Write :func:`device_memory_profile` to a file.

    Raises:
        OSError: it cannot be written.
    """
    Path(filename).write_bytes(device_memory_profile(backend))
