"""What the programs share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dovetail as dt


def start(**more: Any) -> None:
    """Join the other processes, with limits of seconds."""
    limits = {"initialization_timeout": 40, "shutdown_timeout_seconds": 40}
    dt.distributed.initialize(**{**limits, **more})


def raises(error: type[BaseException], text: str, f: Callable[..., Any], *args: Any) -> str:
    """What ``f(*args)`` raises: an error of that class, with that text in it."""
    try:
        f(*args)
    except error as e:
        assert text in str(e), str(e)
        return str(e)
    raise AssertionError(f"no {error.__name__} with {text!r}")
