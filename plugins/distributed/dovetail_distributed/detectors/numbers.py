"""Ports that all processes of a job arrive at by themselves."""

from __future__ import annotations

import os
import zlib

_FIRST, _COUNT = 20000, 12000  # below those that systems give away (32768 and above)


def port_of(job: object) -> int:
    """A port from the name or number of a job: jobs on one machine seldom have the same."""
    return _FIRST + zlib.crc32(str(job).encode()) % _COUNT


def integer(name: str) -> int:
    """An integer from an environment variable.

    Raises:
        ValueError: it is not set, or no integer.
    """
    given = os.environ.get(name)
    try:
        return int(given or "")
    except ValueError:
        raise ValueError(
            f"the environment variable {name} is {given!r}; an integer is expected"
        ) from None
