"""Sums over the mapped axis, of results that have no place for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import algebra, canonical_dtype, here, typeof


def summed(name: str, x: Any, dim: int) -> Any:
    """The sum of ``x`` over its mapped axis; narrow integers and booleans are widened first.

    Raises:
        TypeError: ``x`` is no array of numbers.
    """
    aval: Any = typeof(x)
    if aval.is_high or not isinstance(getattr(aval, "dtype", None), np.dtype):
        raise TypeError(
            f"vmap of {name}: sum_match=True, but there are no sums of values of type "
            f"{aval.str_short()}{here()}. Give their mapped axis a place in out_axes."
        )
    wide = _sum_dtype(aval.dtype)
    if wide != aval.dtype:
        x = algebra().convert(x, aval.update(dtype=wide, weak_type=False))
    return algebra().sum(x, (dim,))


def _sum_dtype(dtype: Any) -> Any:
    """The type of sums: that of integers is no narrower than the default one."""
    unsigned = dtype.name.startswith("uint")
    if dtype.kind != "b" and not unsigned and not dtype.name.startswith("int"):
        return dtype
    default = canonical_dtype(np.dtype(np.uint64 if unsigned else np.int64))
    return default if dtype.kind == "b" or dtype.itemsize < default.itemsize else dtype
