"""The range of jaxlib versions that this adapter can drive, checked before anything else."""

from __future__ import annotations

import re

from .loading import load

OLDEST = (0, 10, 2)
FIRST_UNKNOWN = (0, 13)


def parse(text: str) -> tuple[int, ...]:
    """The leading numbers of a version: "0.13.0.dev1" -> (0, 13, 0)."""
    match = re.match(r"\d+(\.\d+)*", text)
    return tuple(int(part) for part in match.group().split(".")) if match else ()


JAXLIB_VERSION: tuple[int, ...] = parse(load("version").__version__)


def check(version: tuple[int, ...] = JAXLIB_VERSION) -> None:
    """Raises ImportError unless `version` is in the supported range."""
    if OLDEST <= version < FIRST_UNKNOWN:
        return
    low, high = (".".join(map(str, v)) for v in (OLDEST, FIRST_UNKNOWN))
    raise ImportError(
        f"dovetail needs jaxlib >= {low}, < {high}, but jaxlib {'.'.join(map(str, version))} is "
        f'installed. Install a supported one: pip install "jaxlib>={low},<{high}"'
    )
