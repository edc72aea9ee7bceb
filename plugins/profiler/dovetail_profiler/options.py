"""The options ``log_compiles`` and ``explain_cache_misses``."""

from __future__ import annotations

from functools import cache
from typing import Any

from dovetail_core.base.environment import as_bool
from dovetail_core.base.options import Option
from dovetail_core.registry.hooks import manager


class _Heard(Option):
    """An option that lets the writer listen once it has been switched on."""

    def set(self, value: Any) -> None:
        super().set(value)
        if self.state.get_global():
            listen()

    def __call__(self, new_val: Any = True) -> Any:
        scope = super().__call__(new_val)
        listen()
        return scope


log_compiles = _Heard(
    "log_compiles", False, "Log what is traced, lowered and compiled, and how long it takes.",
    check=as_bool,
)  # fmt: skip
explain_cache_misses = _Heard(
    "explain_cache_misses", False, "Log why a function is traced or compiled again.",
    check=as_bool,
)  # fmt: skip


@cache
def writer() -> Any:
    """Who writes what these ask for, made where they do: this module is always imported."""
    from .writing import Writer

    return Writer(log_compiles, explain_cache_misses)


def listen() -> None:
    """Let the writer hear of what is traced and compiled from now on."""
    if not writer().listens:
        writer().listens = True
        manager().register(writer())
