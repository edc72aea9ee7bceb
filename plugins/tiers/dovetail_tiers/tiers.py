"""Whether a program begins in another form than the full one: the provider of ``tiers``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from dovetail_backends import LoweredModule
from dovetail_core import ClosedJaxpr
from dovetail_jit import Provisional

from .options import tiered


def begin(
    module: LoweredModule,
    device: Any,
    options: Mapping[str, Any],
    compile: Callable[[str], Any],
    program: ClosedJaxpr | None = None,
) -> Provisional | None:
    """Have another process compile a program in full, and NumPy or a quickly compiled form run
    meanwhile; None: do not."""
    mode: str = tiered.value
    if mode == "off":
        return None
    from . import choice
    from .compiler import compiler

    if not compiler.is_usable or not choice.can_wait(module, device, options):
        return None
    meanwhile = None if mode == "always" or program is None else interpreted(module, program)
    if meanwhile is None and mode == "auto" and not choice.gains(module.text):
        return None
    from .requests import load, request
    from .successor import Full

    asked = request(module, device, options)
    full = Full(module.name, asked, partial(load, module, device), compile, compiler.works_on)
    compiler.ask(full)
    return Provisional(compile("quick") if meanwhile is None else meanwhile, full)


def interpreted(module: LoweredModule, program: ClosedJaxpr) -> Any:
    """NumPy's form of a program, if it is worth it."""
    from .interpreting import interpreter

    return interpreter(module, program)
