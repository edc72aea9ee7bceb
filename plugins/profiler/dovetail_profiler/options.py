"""The options ``log_compiles`` and ``explain_cache_misses``, and who writes what they ask for."""

from __future__ import annotations

import logging
from typing import Any

from dovetail_core import Option, current_source, describe_source, hookimpl
from dovetail_core.base.environment import as_bool
from dovetail_core.base.source import callable_name
from dovetail_core.registry.hooks import manager
from dovetail_core.xla.config import tracing_state
from dovetail_jit import Executable, Signature

from .functions import is_own, place_of, shown_time, shown_types
from .misses.history import History

logger = logging.getLogger("dovetail.compile")


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


class Writer:
    """Logs what options ask for, in the threads in which they do."""

    def __init__(self) -> None:
        self.listens = False
        self.history = History()

    @hookimpl
    def dovetail_traced(self, function: Any, signature: Signature, seconds: float) -> None:
        """Say what was traced, and why."""
        reason = self.history.traced(function, signature)
        what = f"{callable_name(function)} ({place_of(function)})"
        if log_compiles.value:
            types = shown_types(function, signature)
            logger.warning(
                f"traced {what} for {types}{describe_source(current_source())} in "
                f"{shown_time(seconds)}"
            )
        inside = tracing_state.value  # of another function, which is the one that has a reason
        if explain_cache_misses.value and reason.again and not (inside or is_own(function)):
            remedies = " ".join(reason.remedies)
            logger.warning(
                f"{what} is traced again{describe_source(current_source())}: {reason}. {remedies}"
            )

    @hookimpl
    def dovetail_lowered(self, name: str, seconds: float) -> None:
        """Say what was lowered."""
        if log_compiles.value:
            logger.warning(f"lowered {name} in {shown_time(seconds)}")

    @hookimpl
    def dovetail_compiled(
        self, name: str, platform: str, cached: bool, seconds: float, program: Any, executable: Any
    ) -> None:
        """Say what was compiled, and why."""
        if log_compiles.value:
            done = "read from the cache on disk" if cached else "compiled"
            logger.warning(f"{done} {name} for {platform} in {shown_time(seconds)}")
        if explain_cache_misses.value and isinstance(executable, Executable):
            reason = self.history.compiled(program, executable)
            if reason.again:
                remedies = " ".join(reason.remedies)
                where = describe_source(current_source())
                logger.warning(f"{name} is compiled again{where}: {reason}. {remedies}")


writer = Writer()


def listen() -> None:
    """Let the writer hear of what is traced and compiled from now on."""
    if not writer.listens:
        writer.listens = True
        manager().register(writer)
