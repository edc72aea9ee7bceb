"""The choice of programs that can begin in a quickly compiled form, and that gain by it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import Any

from dovetail_backends import LoweredModule
from dovetail_core import registry
from dovetail_hooks import has_hooks
from dovetail_xla import ffi, lapack

_TARGET = r'custom_call @"?([^"(\s]+)'
_NAME = r"%[\w#:]+"
_FOREIGN = "backends.targets.cpu"


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
    """The foreign functions that a program calls and that this process alone has registered."""
    called = set(re.findall(_TARGET, text))
    if not called:
        return called
    own = called & set(ffi.registered_targets()) - lapack.targets()
    for name in registry().members(_FOREIGN):
        own -= set(registry().member(_FOREIGN, name)())
    return own


OPERATIONS, KINDS, CALLS = 350, 100, 12
"""Programs of so many operations, of so many kinds, take XLA more than a second or near it
(``benchmarks/compile_options.py``). Of many operations of few kinds it makes few kernels in full,
and one of each in the quick form, which takes as long; so it does of functions with many calls."""


def gains(text: str) -> bool:
    """Tell whether a program is expected to take so long to compile that it gains by beginning.

    Not one with a loop: nobody knows how long it runs, and in its quick form that is from 1 to 8
    times as long. Operations are of one kind if they differ in their operands' names alone.
    """
    if "stablehlo.while" in text or text.count("func.call") > CALLS:
        return False
    lines = re.sub(_NAME, "", text).splitlines()
    operations = [x for x in lines if " = " in x and "stablehlo.constant" not in x]
    return len(operations) >= OPERATIONS and len(set(operations)) >= KINDS
