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
        "Programs of jit run in another form until another process has compiled them in full: "
        "'always' (a quickly compiled one), 'auto' (small ones by NumPy, others quickly compiled "
        "where to compile is expected to take long), or 'off'. The forms round differently.",
        check=_mode,
    )
)
