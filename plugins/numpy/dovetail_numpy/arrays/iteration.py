"""Iteration over arrays: rows are cut from a copy on the host, or by programs of bounded size.

For few rows a program is quicker, but it has to be compiled first: it is used for arrays of types
that were iterated over several times.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_backends import device_put, rows_on_host
from dovetail_base.source import called
from dovetail_core import EVAL, Cache, ExtendedDType, get_trace
from dovetail_xla.arrays import ArrayImpl

CHUNK = 64
"""The greatest number of rows that one program cuts an array into."""
OFTEN = 8
"""The number of arrays of a type that are cut on the host before a program is compiled."""

_before: Cache[Any, int] = Cache()
"""The number of arrays that were cut on the host, by type."""


def rows(x: Any) -> Iterator[Any]:
    """The arrays ``x[0]``, ``x[1]``, ...

    Raises:
        TypeError: ``x`` has no axis.
    """
    if not x.shape:
        remedy = f". {x.dtype.remedy}" if isinstance(x.dtype, ExtendedDType) else ""
        raise TypeError(f"iteration over an array without dimensions{called()}{remedy}")
    if get_trace() is EVAL and x.__class__ is ArrayImpl:
        if x.is_fully_addressable and len(x._sharding._internal_device_list) > 1:
            x = device_put(np.asarray(x))  # rows are on one device, as in JAX
        if 0 < x.shape[0] <= CHUNK and _is_frequent(x.aval):
            return iter(lax.unstack(x))
        result = rows_on_host(x)
        return _rows_by_parts(x, lax.dynamic_slice_in_dim) if result is None else result
    return _rows_by_parts(x, _part)


def _is_frequent(aval: Any) -> bool:
    count = _before.get(aval, 0)
    if count < OFTEN:
        _before[aval] = count + 1
    return count >= OFTEN


def _part(x: Any, start: int, size: int) -> Any:
    return lax.slice_in_dim(x, start, start + size)


def _rows_by_parts(x: Any, part: Any) -> Iterator[Any]:
    n = x.shape[0]
    if n <= CHUNK:
        yield from lax.unstack(x)
        return
    for start in range(0, n, CHUNK):
        yield from lax.unstack(part(x, start, min(CHUNK, n - start)))
