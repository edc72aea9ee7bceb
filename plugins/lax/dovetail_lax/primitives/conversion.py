"""Primitives that change element types: by value, and by bits."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive, ShapedArray

from ..dtypes import itemsize_bits, kind_of
from ._elementwise import ANY, place, reject

convert_element_type_p = Primitive("convert_element_type")
"""The same values in another type: out-of-range numbers saturate, complex ones lose ``imag``."""


@convert_element_type_p.def_abstract_eval
def _convert(x: ShapedArray, *, new_dtype: Any, weak_type: bool = False) -> ShapedArray:
    for dtype in (x.dtype, new_dtype):
        if kind_of(dtype) == "other":
            reject("convert_element_type", x.update(dtype=dtype), ANY)
    return ShapedArray(x.shape, new_dtype, weak_type)


bitcast_convert_type_p = Primitive("bitcast_convert_type")
"""The same bits in another type; of another width, the last axis is split or joined."""


@bitcast_convert_type_p.def_abstract_eval
def _bitcast(x: ShapedArray, *, new_dtype: Any) -> ShapedArray:
    if x.dtype == new_dtype:
        return x
    for dtype in (x.dtype, new_dtype):
        if kind_of(dtype) in ("bool", "complex", "other"):
            raise TypeError(
                f"lax.bitcast_convert_type does not reinterpret {x.str_short()} as {new_dtype}"
                f"{place()}: booleans and complex numbers have no such bits. Use x.view(dtype)."
            )
    old, new = itemsize_bits(x.dtype), itemsize_bits(new_dtype)
    if old == new:
        return ShapedArray(x.shape, new_dtype)
    if old > new:
        return ShapedArray((*x.shape, old // new), new_dtype)
    if not x.shape or x.shape[-1] * old != new:
        raise ValueError(
            f"lax.bitcast_convert_type cannot make {new_dtype} ({new} bits) of {x.str_short()}"
            f"{place()}: its last axis must have length {new // old}"
        )
    return ShapedArray(x.shape[:-1], new_dtype)
