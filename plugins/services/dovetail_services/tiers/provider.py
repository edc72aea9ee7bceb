"""The provider ``tiers``: programs begin by NumPy, or in a quickly compiled form."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

from dovetail_backends import LoweredModule
from dovetail_core import registry
from dovetail_hooks import has_hooks
from dovetail_jit import Request, Runnable, made_of
from dovetail_xla import ffi, lapack

from . import interpreted, process, requests
from .options import tiered
from .process import FullExecutable

OPERATIONS, KINDS, CALLS = 350, 100, 12
"""Programs of so many operations, of so many kinds, take XLA more than a second or near it
(``benchmarks/compile_options.py``). Of many operations of few kinds it makes few kernels in full,
and one of each in the quick form, which takes as long; so it does of functions with many calls."""
_TARGET = r'custom_call @"?([^"(\s]+)'
_FOREIGN = "backends.targets.cpu"


def get(request: Request, make: object) -> Runnable | None:
    """Return NumPy, or a quickly compiled executable, and have another process compile in full;
    None if the program gains nothing by that, or another process cannot compile it."""
    module, device, program = request.module, request.device, request.program
    assert program is not None
    compiler = process.compiler
    if not compiler.is_usable or not can_wait(module, device, request.options):
        return None
    low = interpreted.interpretable(program, module)
    if low is None and tiered.value == "auto" and not gains(module):
        return None
    compile, load = request.compile, partial(requests.load, module, device)
    header_and_body = requests.request(module, device, request.options)
    full = FullExecutable(
        module.name, header_and_body, load, compile, compiler.works_on, is_compiled=low is None
    )
    compiler.submit(full)
    if low is None:
        return made_of(request, compile("quick"), successor=full)
    return made_of(request, interpreted.Interpreted(low, module, device, compile), successor=full)


def can_wait(module: LoweredModule, device: Any, options: Mapping[str, Any]) -> bool:
    """Tell whether another process can compile a program, and make the same of it as this one."""
    if module.platform != "cpu" or module.partition is not None:
        return False
    if module.host_callbacks or module.effects:
        return False
    if os.name != "posix" or not sys.executable or has_hooks("dovetail_compile"):
        return False
    client = device.client
    if len(client.devices()) != len(client.local_devices()):  # of several processes
        return False
    if not all(isinstance(x, (bool, int, float, str)) for x in options.values()):
        return False
    return not _own_targets(module.text)


def _own_targets(text: str) -> set[str]:
    """Return the foreign functions that a program calls and that this process alone has."""
    called = set(re.findall(_TARGET, text))
    if not called:
        return called
    own = called & set(ffi.registered_targets()) - lapack.targets()
    for name in registry().members(_FOREIGN):
        own -= set(registry().member(_FOREIGN, name)())
    return own


def gains(module: LoweredModule) -> bool:
    """Tell whether a program is expected to take so long to compile that a provisional form pays.

    Not one with a loop: its time is not known, and in its quick form that is from 1 to 8 times as
    long. Operations are of one kind by what the facts of modules tell of them.
    """
    facts = module.facts()
    if facts is None or "while" in facts.computations or facts.counts.get("func.call", 0) > CALLS:
        return False
    kinds = {k: n for k, n in facts.kinds.items() if k.results and k.name != "stablehlo.constant"}
    return sum(kinds.values()) >= OPERATIONS and len(kinds) >= KINDS
