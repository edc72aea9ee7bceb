"""Executables to look at: what a lighter one lacks, which was read from the cache to be run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dovetail_backends import LoweredModule
from dovetail_xla import execution
from dovetail_xla.lighter import is_lighter

from .cache import key_of_whole, load_executable
from .compiling import all_options, compile_anew
from .identity import program_key
from .store import open_store


def whole_executable(
    module: LoweredModule, device: Any, options: Mapping[str, Any], loaded: Any
) -> Any:
    """The executable of a module to look at: ``loaded``, unless that is a lighter one (see
    ``dovetail_xla.lighter``), in whose place the whole one is read, or else made again."""
    if module.platform != "cpu" or not is_lighter(execution.hlo_text(loaded)):
        return loaded
    given = all_options(module.platform, options)
    store = open_store()
    found = None
    if store is not None:
        found = load_executable(
            store, key_of_whole(program_key(module, device, given)), device, module
        )
    return compile_anew(module, device, given, "default") if found is None else found
