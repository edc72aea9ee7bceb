"""Iterating over arrays: rows are cut from a host copy, or by programs of bounded size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dovetail_lax as lax
from dovetail_backends import rows_on_host
from dovetail_core import EVAL, ExtendedDType, get_trace
from dovetail_core.base.source import called
from dovetail_core.xla.arrays import ArrayImpl

CHUNK = 64
"""How many rows one program cuts an array into."""


def rows(x: Any) -> Iterator[Any]:
    """The arrays ``x[0]``, ``x[1]``, ...

    Raises:
        TypeError: ``x`` has no axis.
    """
    if not x.shape:
        remedy = f". {x.dtype.remedy}" if isinstance(x.dtype, ExtendedDType) else ""
        raise TypeError(f"iteration over an array without dimensions{called()}{remedy}")
    if get_trace() is EVAL and x.__class__ is ArrayImpl:
        found = rows_on_host(x)
        return _rows_by_parts(x, lax.dynamic_slice_in_dim) if found is None else found
    return _rows_by_parts(x, _part)


def _part(x: Any, start: int, size: int) -> Any:
    return lax.slice_in_dim(x, start, start + size)


def _rows_by_parts(x: Any, part: Any) -> Iterator[Any]:
    n = x.shape[0]
    if n <= CHUNK:
        yield from lax.unstack(x)
        return
    for start in range(0, n, CHUNK):
        yield from lax.unstack(part(x, start, min(CHUNK, n - start)))
