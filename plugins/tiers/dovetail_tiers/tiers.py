"""Whether a program begins in a quickly compiled form: the provider of the role ``tiers``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from dovetail_backends import LoweredModule
from dovetail_jit import Provisional

from .options import tiered


def begin(
    module: LoweredModule,
    device: Any,
    options: Mapping[str, Any],
    compile: Callable[[str], Any],
) -> Provisional | None:
    """Compile a program quickly, and have another process compile it in full; None: do not."""
    mode: str = tiered.value
    if mode == "off":
        return None
    from . import choice
    from .compiler import compiler

    if not compiler.is_usable or not choice.can_wait(module, device, options):
        return None
    if mode == "auto" and not choice.gains(module.text):
        return None
    from .requests import load, request
    from .successor import Full

    asked = request(module, device, options)
    full = Full(module.name, asked, partial(load, module, device), compile, compiler.works_on)
    compiler.ask(full)
    return Provisional(compile("quick"), full)
