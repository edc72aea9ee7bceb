"""Compiling with or without the cache, whose parts are imported where a directory is given."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from dovetail_backends import LoweredModule, backend_of
from dovetail_core import ClosedJaxpr, registry
from dovetail_core.registry.hooked import has_hooks, manager
from dovetail_xla import fork

from ..compiled_before import found_or_made
from ..optimizations import fewer_optimizations
from .options import cache_dir


def compile_with_cache(
    module: LoweredModule,
    device: Any,
    options: Mapping[str, Any] | None,
    profile: str,
    program: ClosedJaxpr | None = None,
    shared: bool = False,
) -> tuple[Any, bool]:
    """The runtime's executable, and whether it came from the cache.

    ``program``: what the module was lowered from, where a
    :class:`~dovetail_jit.provisional.Provisional` will do, if a plugin has one. ``shared``: it may
    be the executable of another program whose module is equal.
    """
    given = all_options(module.platform, options)

    def make() -> Any:
        if program is None or fork.forked():
            return compile_here(profile)
        begin = registry().provider("tiers", None)
        found = begin and begin(module, device, given, compile_here, program)
        return compile_here(profile) if found is None else found

    def compile_here(profile: str) -> Any:
        made = partial(compile_anew, module, device, given, profile)
        if not shared or profile != "default":
            return made()
        return found_or_made(module, device, given, made)

    # A forked process can neither load nor compile; compiling says so.
    if cache_dir.value is None or profile != "default" or fork.forked():
        return make(), False
    from .cache import find_or_make

    return find_or_make(module, device, given, make)


def all_options(platform: str, options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The compiler's options: those that configuration asks for, that plugins add for a platform,
    and that are given."""
    merged = dict(fewer_optimizations())
    if has_hooks("dovetail_compile_options"):
        for found in reversed(manager().hook.dovetail_compile_options(platform=platform)):
            merged.update(found)
    return {**merged, **(options or {})}


def compile_anew(module: LoweredModule, device: Any, options: dict[str, Any], profile: str) -> Any:
    """The runtime's executable, from the plugin that compiles, else from the backend."""
    if profile == "default" and has_hooks("dovetail_compile"):
        found = manager().hook.dovetail_compile(
            module=module.text, platform=module.platform, options=options
        )
        if found is not None:
            return found
    return backend_of(device).compile(module, device, options, profile)
