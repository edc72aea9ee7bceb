"""The options ``log_compiles`` and ``explain_cache_misses``."""

from __future__ import annotations

from typing import Any

from dovetail_base.environment import as_bool
from dovetail_hooks.options import Listener, ListeningOption


def _writer() -> Any:
    from .compile_log import Writer  # this module is always imported

    return Writer(log_compiles, explain_cache_misses)


listener = Listener(_writer)
log_compiles = ListeningOption(
    listener, "log_compiles", False,
    "Log what is traced, lowered and compiled, and how long it takes.", check=as_bool,
)  # fmt: skip
explain_cache_misses = ListeningOption(
    listener, "explain_cache_misses", False,
    "Log why a function is traced or compiled again.", check=as_bool,
)  # fmt: skip
