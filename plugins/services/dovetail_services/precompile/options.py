"""The options ``record_compiles`` and ``compile_progress``, and the hook of the first one.

The hook is one of this module only where the environment gives a file to record to.
"""

from __future__ import annotations

import os
from typing import Any

from dovetail_base.environment import as_bool
from dovetail_base.options import Option
from dovetail_hooks.options import Listener, ListeningOption


def _path(value: Any) -> str | None:
    if isinstance(value, bool):
        raise TypeError(f"expected the path of a file, got {value!r}")
    return os.path.abspath(os.fspath(value)) if value else None


def _recorder() -> Any:
    from .recording import Recorder  # this module is always imported

    return Recorder(record_compiles)


listener = Listener(_recorder)
record_compiles = ListeningOption(
    listener,
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

if record_compiles.is_given:
    listener.is_always = True
    dovetail_compiled = listener.hooks.dovetail_compiled
