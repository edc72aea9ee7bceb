"""Modules that were compiled before: another program with an equal one runs the same executable.

Libraries make functions anew for each run, as a sampler does that closes over its model: a program
is traced again, and what it is lowered to is the same text. Kept are the latest few that took long.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from dovetail_backends import LoweredModule
from dovetail_base.caches import Cache
from dovetail_base.keys import exact_key
from dovetail_core.registry.hooked import has_hooks
from dovetail_xla.transforms import registered

SECONDS = 0.05
"""What takes less to compile is not kept."""

_kept: Cache[tuple[Any, ...], Any] = Cache(32)


def found_or_made(
    module: LoweredModule, device: Any, options: Mapping[str, Any], make: Callable[[], Any]
) -> Any:
    """The runtime's executable of an equal module, else what ``make()`` compiles.

    A program that calls functions of Python, or is divided, holds more than its text says; and
    what plugins and foreign functions make of a module may change.
    """
    if module.host_callbacks or module.partition or registered or has_hooks("dovetail_compile"):
        return make()
    key = None
    if _kept:
        key = _key(module, device, options)
        found = _kept.get(key)
        if found is not None:
            return found
    start = time.perf_counter()
    made = make()
    if time.perf_counter() - start > SECONDS:
        _kept[key or _key(module, device, options)] = made
    return made


def _key(module: LoweredModule, device: Any, options: Mapping[str, Any]) -> tuple[Any, ...]:
    from hashlib import sha256  # only where a program takes long to compile

    given = tuple((k, exact_key(v)) for k, v in sorted(options.items()))
    return sha256(module.text.encode()).digest(), device, given
