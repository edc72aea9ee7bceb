"""Primitives of complex parts, choices and conversions, of iota, and of identities."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import AbstractValue, IOEffect, Primitive, ShapedArray, here

from ..dtypes import itemsize_bits, kind_of
from ..errors import DtypeError
from .elementwise import (
    ANY,
    BITS,
    COMPLEX,
    INEXACT,
    NUMBER,
    common_shape,
    elementwise,
    mismatch,
    reject,
)
from .traits import describe

_PARTS = {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype("f8")}
_COMPLEX_OF = {part: number for number, part in _PARTS.items()}


def real_part(dtype: Any) -> Any:
    """The element type of the real and imaginary parts; a type that is not complex is its own."""
    return _PARTS.get(dtype, dtype)


def complex_of(dtype: Any) -> Any:
    """The complex type whose parts are of type ``dtype``; of a complex type, itself.

    Raises:
        TypeError: there is none.
    """
    if dtype not in _COMPLEX_OF and dtype not in _PARTS:
        raise TypeError(
            f"no complex dtype has parts of dtype {dtype}: only float32 and float64 can be parts"
        )
    return _COMPLEX_OF.get(dtype, dtype)


real_p = elementwise(Primitive("real"), COMPLEX, result=real_part)
imag_p = elementwise(Primitive("imag"), COMPLEX, result=real_part)
complex_p = elementwise(Primitive("complex"), ("floating",), result=complex_of)
conj_p = elementwise(Primitive("conj"), INEXACT, result=complex_of)


select_n_p = Primitive("select_n")
"""``cases[which]`` for each element; ``which`` is boolean (two cases) or an integer.

Cases, like operands of any elementwise operation, are equally shaped or scalar. An integer below
zero chooses the first case, one that is too large the last.
"""


@select_n_p.def_abstract_eval
def _select_n(which: ShapedArray, first: ShapedArray, *others: ShapedArray) -> ShapedArray:
    cases = (first, *others)
    if kind_of(which.dtype) not in BITS:
        raise TypeError(
            f"lax.select_n chooses by booleans or integers, got {which.str_short()}{here()}. "
            "Compare first (x > 0), or convert to an integer type."
        )
    if kind_of(which.dtype) == "bool" and len(cases) > 2:
        raise TypeError(
            f"lax.select_n chooses between two cases by booleans, got {len(cases)} cases{here()}. "
            "Choose by integers."
        )
    for case in cases:
        if case.dtype != first.dtype:
            mismatch("select_n", cases)
    shape = common_shape("select_n", (which, *cases))
    return ShapedArray(shape, first.dtype, all(c.weak_type for c in cases))


clamp_p = Primitive("clamp")
"""``x`` limited to ``[min, max]``."""


@clamp_p.def_abstract_eval
def _clamp(min: ShapedArray, x: ShapedArray, max: ShapedArray) -> ShapedArray:
    operands = (min, x, max)
    for aval in operands:
        if kind_of(aval.dtype) not in ANY:
            reject("clamp", aval, ANY)
        if aval.dtype != x.dtype:
            mismatch("clamp", operands)
    weak = min.weak_type and x.weak_type and max.weak_type
    return ShapedArray(common_shape("clamp", operands), x.dtype, weak)


iota_p = Primitive("iota")
"""0, 1, 2, ... along axis ``dimension`` of an array of ``shape``."""


@iota_p.def_abstract_eval
def _iota(*, dtype: Any, shape: tuple[int, ...], dimension: int) -> ShapedArray:
    out = ShapedArray(shape, dtype)
    if kind_of(dtype) not in NUMBER:
        reject("iota", out, NUMBER)
    if any(d < 0 for d in shape):
        raise TypeError(f"lax.iota takes a shape of non-negative sizes, got {shape}{here()}")
    if not 0 <= dimension < len(shape):
        raise ValueError(
            f"lax.iota takes a dimension from 0 to {len(shape) - 1} for shape {shape}, got "
            f"{dimension}{here()}"
        )
    return out


convert_element_type_p = Primitive("convert_element_type")
"""The same values in another type: out-of-range numbers saturate, complex ones lose ``imag``."""


@convert_element_type_p.def_abstract_eval
def _convert(x: ShapedArray, *, new_dtype: Any, weak_type: bool = False) -> ShapedArray:
    for dtype in (x.dtype, new_dtype):
        if kind_of(dtype) not in ANY and not (x.is_high and x.dtype is new_dtype):
            reject("convert_element_type", x.update(dtype=dtype), ANY)
    return ShapedArray(x.shape, new_dtype, weak_type)


bitcast_convert_type_p = Primitive("bitcast_convert_type")
"""The same bits in another type; of another width, the last axis is split or joined."""


@bitcast_convert_type_p.def_abstract_eval
def _bitcast(x: ShapedArray, *, new_dtype: Any) -> ShapedArray:
    if x.dtype == new_dtype:
        return x.strong()
    for dtype in (x.dtype, new_dtype):
        if kind_of(dtype) in ("bool", "complex", "extended", "other"):
            raise DtypeError(
                f"lax.bitcast_convert_type does not reinterpret {x.str_short()} as {new_dtype}"
                f"{here()}: booleans and complex numbers have no such bits. Use x.view(dtype)."
            )
    old, new = itemsize_bits(x.dtype), itemsize_bits(new_dtype)
    if old == new:
        return ShapedArray(x.shape, new_dtype)
    if old > new:
        return ShapedArray((*x.shape, old // new), new_dtype)
    if not x.shape or x.shape[-1] * old != new:
        raise ValueError(
            f"lax.bitcast_convert_type cannot make {new_dtype} ({new} bits) of {x.str_short()}"
            f"{here()}: its last axis must have length {new // old}"
        )
    return ShapedArray(x.shape[:-1], new_dtype)


copy_p = Primitive("copy")
"""The operand in memory of its own."""

stop_gradient_p = Primitive("stop_gradient")
"""The operand; its derivative is zero."""

stage_p = Primitive("stage")
"""The operand, as a value of the program that is being traced."""

dce_sink_p = Primitive("dce_sink", multiple_results=True).def_traits(effect_only=True)
"""Nothing: but what computes the operand counts as used."""

optimization_barrier_p = Primitive("optimization_barrier", multiple_results=True)
"""The operands; compilers move nothing across."""


def _same(x: AbstractValue) -> AbstractValue:
    return x


copy_p.def_abstract_eval(_same)
stage_p.def_abstract_eval(_same)
stage_p.def_decomposition(lambda x: x)
stop_gradient_p.def_abstract_eval(_same)


@dce_sink_p.def_effectful_abstract_eval
def _dce_sink(x: AbstractValue, *, prevent_mlir_dce: bool) -> Any:
    return [], frozenset({IOEffect("dce_sink")})


@optimization_barrier_p.def_abstract_eval
def _optimization_barrier(*operands: AbstractValue) -> list[AbstractValue]:
    return list(operands)


@stop_gradient_p.def_decomposition
def _stop_gradient(x: Any) -> Any:
    return x


describe(__name__)
