"""The effects of debugging output, by which programs that have some are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dovetail_core import IOEffect, OrderedIOEffect
from dovetail_text.syntax import register_parameter


@dataclass(frozen=True, slots=True)
class DebugEffect(IOEffect):
    """A program shows values while it runs (``debug.print``, ``log``, ``callback``)."""

    name: str = "debug"
    anywhere: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class OrderedDebugEffect(OrderedIOEffect):
    """A program shows values while it runs, in order."""

    name: str = "debug"
    anywhere: ClassVar[bool] = True


register_parameter(DebugEffect, name="debug")
register_parameter(OrderedDebugEffect, name="ordered_debug")
