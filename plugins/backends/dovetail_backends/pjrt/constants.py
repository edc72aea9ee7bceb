"""Which constants of a program are written into its module."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import float0
from dovetail_core.xla.arrays import ArrayImpl

SMALL = 1024
"""Bytes. XLA knows what such a constant is, and text of that length is read in no time; larger ones
are arguments, so that programs are compiled without them and calls share their memory."""


def is_small_constant(value: Any) -> bool:
    """Whether an array is known, bound to no device, and small."""
    if value.__class__ is ArrayImpl:
        return value.nbytes <= SMALL and not value._committed and not value.is_deleted()
    return isinstance(value, np.ndarray) and value.nbytes <= SMALL and value.dtype != float0
