"""What a program asked of JAX's names that is worth a report: names that are missing, private
modules that are emulated, options that have no effect here."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import FrameType

from dovetail_base.source import is_hidden

Places = dict[str, str]
"""Where each name was asked for first, as ``file:line``."""


@dataclass
class Asked:
    """The names, and where each was asked for first."""

    missing_names: Places = field(default_factory=Places)
    private_modules: Places = field(default_factory=Places)
    idle_options: Places = field(default_factory=Places)

    def missing(self, name: str) -> None:
        """A public name that Dovetail lacks."""
        self.missing_names.setdefault(name, _place())

    def private(self, module: str) -> None:
        """A private module of JAX that is emulated."""
        self.private_modules.setdefault(module, _place())

    def idle(self, option: str) -> None:
        """An option of JAX that was set and has no effect."""
        self.idle_options.setdefault(option, _place())

    def __bool__(self) -> bool:
        return bool(self.missing_names or self.private_modules or self.idle_options)


asked = Asked()


def _place() -> str:
    frame: FrameType | None = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and (is_hidden(frame) or _imports(frame)):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _imports(frame: FrameType) -> bool:
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return package in ("importlib", "dovetail", "jax")
