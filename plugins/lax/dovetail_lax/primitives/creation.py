"""Primitives that make arrays of nothing: ``iota``."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive, ShapedArray

from ..dtypes import kind_of
from ._elementwise import NUMBER, place, reject

iota_p = Primitive("iota")
"""0, 1, 2, ... along axis ``dimension`` of an array of ``shape``."""


@iota_p.def_abstract_eval
def _iota(*, dtype: Any, shape: tuple[int, ...], dimension: int) -> ShapedArray:
    out = ShapedArray(shape, dtype)
    if kind_of(dtype) not in NUMBER:
        reject("iota", out, NUMBER)
    if any(d < 0 for d in shape):
        raise TypeError(f"lax.iota takes a shape of non-negative sizes, got {shape}{place()}")
    if not 0 <= dimension < len(shape):
        raise ValueError(
            f"lax.iota takes a dimension from 0 to {len(shape) - 1} for shape {shape}, got "
            f"{dimension}{place()}"
        )
    return out
