"""The options ``record_compiles`` and ``compile_progress``."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from dovetail_core.base.environment import as_bool
from dovetail_core.base.options import Option
from dovetail_core.registry.hooks import manager


class _Heard(Option):
    """An option that lets the recorder listen once it has been set."""

    def set(self, value: Any) -> None:
        super().set(value)
        if self.state.get_global() is not None:
            listen()

    def __call__(self, new_val: Any = True) -> Any:
        scope = super().__call__(new_val)
        listen()
        return scope


def _path(value: Any) -> str | None:
    if isinstance(value, bool):
        raise TypeError(f"expected the path of a file, got {value!r}")
    return os.path.abspath(os.fspath(value)) if value else None


record_compiles = _Heard(
    "record_compiles",
    None,
    "File to which every program that is compiled is added, for `dovetail warm`; None: no file.",
    check=_path,
)
compile_progress = Option(
    "compile_progress",
    True,
    "Compiling ahead shows its progress on a terminal.",
    check=as_bool,
)


@cache
def recorder() -> Any:
    """Who records, made where that is asked for: this module is always imported."""
    from .manifest.recording import Recorder

    return Recorder(record_compiles)


def listen() -> None:
    """Let the recorder hear of what is compiled from now on."""
    if not recorder().listens:
        recorder().listens = True
        manager().register(recorder())
