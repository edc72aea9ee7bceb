"""A first run of the full form ahead of the call that takes it.

What XLA's runtime prepares when a program runs first, such as the products of matrices of its
libraries, takes up to a tenth of a second. So the thread that loaded a program runs it on zeros.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from dovetail_backends import LoweredModule
from dovetail_remat import nbytes
from dovetail_xla.arrays import put
from dovetail_xla.execution import run_ahead

LARGEST = 1 << 28
"""Bytes of arguments and results, beyond which a program is not run ahead."""
_UNKNOWN = "stablehlo.while", "custom_call"
"""Loops may not end on zeros, and nobody knows what foreign functions do with them."""


def can_prepare(module: LoweredModule) -> bool:
    """Tell whether a program may run on zeros: it ends, does nothing but compute, and is not
    large."""
    if module.effects or module.host_callbacks or any(x in module.text for x in _UNKNOWN):
        return False
    return sum(map(nbytes, (*module.in_avals, *module.out_avals))) <= LARGEST


def prepare(loaded: Any, module: LoweredModule, device: Any) -> None:
    """Run a program on zeros and wait for it; if it fails, its caller will be told."""
    with suppress(Exception):
        zeros = [put(np.zeros(a.shape, a.dtype), a, device) for a in module.in_avals]
        run_ahead(loaded, zeros)
