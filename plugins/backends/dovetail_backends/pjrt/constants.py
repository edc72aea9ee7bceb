"""Which constants of a program are written into its module."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import float0, typeof
from dovetail_xla.arrays import ArrayImpl, to_numpy
from dovetail_xla.guards import explicit_get

SMALL = 1024
"""Bytes. XLA knows what such a constant is, and text of that length is read in no time; larger ones
are arguments, so that programs are compiled without them and calls share their memory."""


def host_constant(value: Any) -> Any:
    """What stands for a small array of the host, or one that is bound to no device, in a program.

    None for other values. Waits for the array, and does not keep it alive.
    """
    if isinstance(value, np.ndarray):
        return value if is_in_module(value) else None
    if value.__class__ is not ArrayImpl or value.nbytes > SMALL or value._committed:
        return None
    if value.is_deleted():
        return None
    result = np.array(explicit_get(to_numpy, value))
    if not value.weak_type:
        return result
    if result.ndim:
        return None
    scalar = result.item()  # the one kind of value on the host that is weakly typed
    return scalar if typeof(scalar) == typeof(value) else None


def is_in_module(value: Any) -> bool:
    """Whether a program's constant is a part of its module, and not an argument."""
    if isinstance(value, np.ndarray):
        return value.nbytes <= SMALL and value.dtype != float0
    return isinstance(value, (bool, int, float, complex))
