"""Who writes what the options ``log_compiles`` and ``explain_cache_misses`` ask for."""

from __future__ import annotations

import logging
from typing import Any

from dovetail_base.source import callable_name
from dovetail_core import Option, current_source, describe_source, hookimpl
from dovetail_jit import Executable, Signature
from dovetail_xla.config import tracing_state

from .functions import is_own, place_of, shown_time, shown_types
from .misses.history import History

logger = logging.getLogger("dovetail.compile")


class Writer:
    """Logs what the two options ask for, in the threads in which they do."""

    def __init__(self, log: Option, explain: Option) -> None:
        self.log, self.explain = log, explain
        self.history = History()

    @hookimpl
    def dovetail_traced(self, function: Any, signature: Signature, seconds: float) -> None:
        """Say what was traced, and why."""
        if not (self.log.value or self.explain.value):
            return  # they are on in another thread
        reason = self.history.traced(function, signature)
        what = f"{callable_name(function)} ({place_of(function)})"
        if self.log.value:
            types = shown_types(function, signature)
            logger.warning(
                f"traced {what} for {types}{describe_source(current_source())} in "
                f"{shown_time(seconds)}"
            )
        inside = tracing_state.value  # of another function, which is the one that has a reason
        if self.explain.value and reason.again and not (inside or is_own(function)):
            remedies = " ".join(reason.remedies)
            logger.warning(
                f"{what} is traced again{describe_source(current_source())}: {reason}. {remedies}"
            )

    @hookimpl
    def dovetail_not_cached(self, name: str, reason: str) -> None:
        """Say why a function must be traced, although it was to be found in the cache."""
        if self.explain.value:
            logger.warning(
                f"{name} is traced{describe_source(current_source())}, and not found in the cache "
                f"by its code: {reason}"
            )

    @hookimpl
    def dovetail_lowered(self, name: str, seconds: float) -> None:
        """Say what was lowered."""
        if self.log.value:
            logger.warning(f"lowered {name} in {shown_time(seconds)}")

    @hookimpl
    def dovetail_compiled(
        self, name: str, platform: str, cached: bool, seconds: float, program: Any, executable: Any
    ) -> None:
        """Say what was compiled, and why."""
        if self.log.value:
            done = "read from the cache on disk" if cached else "compiled"
            logger.warning(f"{done} {name} for {platform} in {shown_time(seconds)}")
        if self.explain.value and isinstance(executable, Executable):
            reason = self.history.compiled(program, executable)
            if reason.again:
                remedies = " ".join(reason.remedies)
                where = describe_source(current_source())
                logger.warning(f"{name} is compiled again{where}: {reason}. {remedies}")
