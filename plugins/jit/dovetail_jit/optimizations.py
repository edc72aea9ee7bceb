"""The option that has programs compiled sooner, to run longer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dovetail_base.options import as_bool
from dovetail_core import Option, config
from dovetail_xla.options import LEVEL

disable_most_optimizations = config.add(
    Option(
        "disable_most_optimizations",
        False,
        "Programs that are compiled from now on take a half to a third of the time to compile, and "
        "up to ten times as long to run: for tests, and for programs that run once.",
        check=as_bool,
    )
)


def fewer_optimizations() -> Mapping[str, Any]:
    """The compiler's options that the option asks for: none where it is off."""
    if not disable_most_optimizations.value:
        return {}
    return {LEVEL: 0, "xla_llvm_disable_expensive_passes": True}
