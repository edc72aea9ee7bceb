"""NumPy's arrays as constants of programs: their values now, whatever is written to them later."""

from __future__ import annotations

from typing import Any
from weakref import ref

import numpy as np

from .caches import WeakTable

Array = np.ndarray[Any, Any]

_copies: WeakTable[ref[Array]] = WeakTable()
"""The copy of an array that programs hold; it may die before the array."""


def frozen(x: Array) -> Array:
    """``x`` with its present values: itself if nothing can write to it, else a read-only copy.

    Programs share the copy of an array for as long as the array is not written to.
    """
    if not x.flags.writeable and not isinstance(x.base, np.ndarray):
        return x
    bits = None if x.dtype.hasobject else x.tobytes()
    known = _copies.known(x)
    if known is not None:
        result = known()
        if result is not None and bits is not None and result.base == bits and _alike(result, x):
            return result
    result = np.array(x) if bits is None else np.ndarray(x.shape, x.dtype, bits)
    result.flags.writeable = False
    _copies.put(x, ref(result))
    return result


def _alike(x: Array, y: Array) -> bool:
    return x.shape == y.shape and x.dtype == y.dtype
