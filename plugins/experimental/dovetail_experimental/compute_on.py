"""The device part that operations run on: the device, its host, or a part of the device."""

from __future__ import annotations

import re

from dovetail_base.source_info import annotate
from dovetail_core import here

__all__ = ["compute_on"]

_TYPES = {"device_host": "host", "device": "dense", "tpu_sparsecore": "sparseoffload"}


def compute_on(compute_type: str) -> annotate:
    """Context manager and decorator: XLA is told where the operations inside of it are to run.

    Args:
        compute_type: ``"device_host"``, the device's host; ``"device"``, its ordinary cores;
            ``"tpu_sparsecore"``; or ``"gpu_stream:#"``, the stream of that number.

    Raises:
        TypeError: ``compute_type`` is no string.
        ValueError: it is another one.
    """
    if not isinstance(compute_type, str):
        raise TypeError(
            f"compute_on{here()}: compute_type is of type {type(compute_type).__name__}; give a "
            "string: 'device_host'."
        )
    stream = re.fullmatch(r"gpu_stream:(\d+)", compute_type)
    if stream is None and compute_type not in _TYPES:
        raise ValueError(
            f"compute_on{here()}: there is no compute type {compute_type!r}; give "
            f"{', '.join(map(repr, _TYPES))}, or 'gpu_stream:' and a number."
        )
    return annotate(
        {
            "_xla_compute_type": None if stream else _TYPES[compute_type],
            "_xla_stream_annotation": stream and stream[1],
            "inlineable": stream and "false",
        }
    )
