"""A warning of functions that close over much: what arguments should be is kept with programs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from dovetail_base import arguments
from dovetail_base.source import here
from dovetail_core import Option, config

captured_constants_warn_bytes = config.add(
    Option(
        "captured_constants_warn_bytes",
        2_000_000_000,
        "A function that is lowered and closes over arrays of more bytes together causes a "
        "warning; -1 for none.",
        check=lambda value: arguments.integer("captured_constants_warn_bytes", int(value)),
    )
)


def warn_of_captured(name: str, constants: Iterable[Any]) -> None:
    """Warn where the arrays that the function ``name`` closes over are large together."""
    total = sum([getattr(x, "nbytes", 0) for x in constants])
    limit = captured_constants_warn_bytes.value
    if total > limit >= 0:
        warnings.warn(
            f"{name} closes over arrays of {total} bytes{here()}, which its programs keep alive: a "
            "large amount of constants were captured. Pass them as arguments, or raise the option "
            f"captured_constants_warn_bytes, which is {limit}.",
            stacklevel=2,
        )
