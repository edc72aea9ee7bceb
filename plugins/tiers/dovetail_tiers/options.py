"""The option ``tiered``."""

from __future__ import annotations

from typing import Any

from dovetail_core import Option, config

MODES = ("off", "auto", "always")


def _mode(value: Any) -> str:
    if value not in MODES:
        raise ValueError(f"expected one of {', '.join(map(repr, MODES))}, got {value!r}")
    return value


tiered = config.add(
    Option(
        "tiered",
        "off",
        "Programs of jit are run by NumPy, or in a quickly compiled form, until another process "
        "has compiled them in full: 'always', 'auto' (where that is expected to gain much), or "
        "'off'. The forms round differently.",
        check=_mode,
    )
)
