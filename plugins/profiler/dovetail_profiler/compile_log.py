"""The log of the options ``log_compiles`` and ``explain_cache_misses``."""

from __future__ import annotations

import logging
from typing import Any

from dovetail_base.source import callable_name
from dovetail_core import Option, current_source, describe_source, hookimpl
from dovetail_jit import Executable, Signature
from dovetail_xla.config import tracing_state

from .formatting import is_own, location_of, shown_time, shown_types
from .misses.history import History

logger = logging.getLogger("dovetail.compile")


class Writer:
    """Writes the log of the two options, in the threads in which they are on."""

    def __init__(self, log: Option, explain: Option) -> None:
        self.log, self.explain = log, explain
        self.history = History()

    @hookimpl
    def dovetail_traced(self, function: Any, signature: Signature, seconds: float) -> None:
        """Log a trace, and its reason."""
        if not (self.log.value or self.explain.value):
            return  # they are on in another thread
        reason = self.history.traced(function, signature)
        what = f"{callable_name(function)} ({location_of(function)})"
        if self.log.value:
            types = shown_types(function, signature)
            logger.warning(
                f"traced {what} for {types}{describe_source(current_source())} in "
                f"{shown_time(seconds)}"
            )
        is_nested = tracing_state.value  # in another function, which is the one with a reason
        if self.explain.value and reason.again and not (is_nested or is_own(function)):
            remedies = " ".join(reason.remedies)
            logger.warning(
                f"{what} is traced again{describe_source(current_source())}: {reason}. {remedies}"
            )

    @hookimpl
    def dovetail_not_cached(self, name: str, reason: str) -> None:
        """Log the reason why a function is traced and not read from the cache."""
        if self.explain.value:
            logger.warning(
                f"{name} is traced{describe_source(current_source())}, and not found in the cache "
                f"by its code: {reason}"
            )

    @hookimpl
    def dovetail_lowered(self, name: str, seconds: float) -> None:
        """Log a lowering."""
        if self.log.value:
            logger.warning(f"lowered {name} in {shown_time(seconds)}")

    @hookimpl
    def dovetail_compiled(
        self, name: str, platform: str, cached: bool, seconds: float, program: Any, executable: Any
    ) -> None:
        """Log a compilation, and its reason."""
        if self.log.value:
            done = "read from the cache on disk" if cached else "compiled"
            logger.warning(f"{done} {name} for {platform} in {shown_time(seconds)}")
        if self.explain.value and isinstance(executable, Executable):
            reason = self.history.compiled(program, executable)
            if reason.again:
                remedies = " ".join(reason.remedies)
                location = describe_source(current_source())
                logger.warning(f"{name} is compiled again{location}: {reason}. {remedies}")
