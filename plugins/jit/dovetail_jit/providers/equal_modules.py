"""Equal modules: another program with one runs the same executable.

Libraries make functions anew for each run, as a sampler does that closes over its model: a program
is traced again, and what it is lowered to is the same text. Kept are the latest few that took long.
"""

from __future__ import annotations

import time
from typing import Any

from dovetail_base.caches import Cache
from dovetail_hooks import has_hooks
from dovetail_xla.transforms import registered

from ..call.executable import Runnable
from ..call.providers import Make, made_of
from ..call.request import Request

SECONDS = 0.05
"""Executables that take less to compile are not kept."""

_kept: Cache[tuple[Any, ...], Any] = Cache(32)


def get(request: Request, make: Make) -> Runnable | None:
    """The executable of an equal module, else what is compiled, which is kept.

    A program that calls functions of Python, or is divided, holds more than its text says; and
    what plugins and foreign functions make of a module may change.
    """
    module = request.module
    if module.host_callbacks or module.partition or registered or has_hooks("dovetail_compile"):
        return None
    if _kept and (result := _kept.get(_key(request))) is not None:
        return made_of(request, result)
    start = time.perf_counter()
    made = make()
    if time.perf_counter() - start > SECONDS and made.compiled is not None:
        _kept[_key(request)] = made.compiled.loaded
    return made


def _key(request: Request) -> tuple[Any, ...]:
    return request.digest(), request.device
