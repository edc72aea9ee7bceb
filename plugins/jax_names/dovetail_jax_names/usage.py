"""A record of names of JAX that a program used and that are worth a report: missing ones, private
modules that are emulated, options that have no effect here."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import FrameType

from dovetail_base.source import is_hidden

SourceLocations = dict[str, str]
"""Where each name was asked for first, as ``file:line``."""


@dataclass
class Usage:
    """The names, and where each was asked for first."""

    missing_names: SourceLocations = field(default_factory=SourceLocations)
    private_modules: SourceLocations = field(default_factory=SourceLocations)
    idle_options: SourceLocations = field(default_factory=SourceLocations)

    def missing(self, name: str) -> None:
        """A public name that Dovetail lacks."""
        self.missing_names.setdefault(name, _source_location())

    def private(self, module: str) -> None:
        """A private module of JAX that is emulated."""
        self.private_modules.setdefault(module, _source_location())

    def idle(self, option: str) -> None:
        """An option of JAX that was set and has no effect."""
        self.idle_options.setdefault(option, _source_location())

    def __bool__(self) -> bool:
        return bool(self.missing_names or self.private_modules or self.idle_options)


usage = Usage()


def _source_location() -> str:
    frame: FrameType | None = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and (is_hidden(frame) or _imports(frame)):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _imports(frame: FrameType) -> bool:
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return package in ("importlib", "dovetail", "jax")
