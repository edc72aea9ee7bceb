"""Primitives of arithmetic: sums, products, quotients, signs, powers and roots."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive, ShapedArray, here

from ..dtypes import kind_of
from .elementwise import (
    ANY,
    FLOATING,
    INEXACT,
    INTEGER,
    NUMBER,
    REAL,
    common_shape,
    elementwise,
    mismatch,
    reject,
)
from .traits import describe
from .values import real_part

add_p = elementwise(Primitive("add"), NUMBER)
sub_p = elementwise(Primitive("sub"), NUMBER)
div_p = elementwise(Primitive("div"), NUMBER)
rem_p = elementwise(Primitive("rem"), REAL)
max_p = elementwise(Primitive("max"), ANY)
min_p = elementwise(Primitive("min"), ANY)
neg_p = elementwise(Primitive("neg"), NUMBER)
sign_p = elementwise(Primitive("sign"), NUMBER)
abs_p = elementwise(Primitive("abs"), ("signed", *INEXACT), result=real_part)
square_p = elementwise(Primitive("square"), NUMBER)
sqrt_p = elementwise(Primitive("sqrt"), INEXACT)
rsqrt_p = elementwise(Primitive("rsqrt"), INEXACT)
cbrt_p = elementwise(Primitive("cbrt"), FLOATING)
nextafter_p = elementwise(Primitive("nextafter"), FLOATING)
mulhi_p = elementwise(Primitive("mulhi"), INTEGER)

mul_p = Primitive("mul")
"""Product; with the parameter ``out_dtype`` operands are converted to that type first."""


@mul_p.def_abstract_eval
def _mul(x: ShapedArray, y: ShapedArray, *, out_dtype: Any = None) -> ShapedArray:
    for aval in (x, y):
        if kind_of(aval.dtype) not in NUMBER:
            reject("mul", aval, NUMBER)
    if x.dtype != y.dtype:
        mismatch("mul", (x, y))
    weak = x.weak_type and y.weak_type and out_dtype is None
    return ShapedArray(common_shape("mul", (x, y)), out_dtype or x.dtype, weak)


pow_p = Primitive("pow")
"""``x ** y``; ``y`` has the type of ``x`` or any integer type."""


@pow_p.def_abstract_eval
def _pow(x: ShapedArray, y: ShapedArray) -> ShapedArray:
    if kind_of(x.dtype) not in INEXACT:
        reject("pow", x, INEXACT)
    if kind_of(y.dtype) not in NUMBER:
        reject("pow", y, NUMBER)
    if kind_of(y.dtype) not in INTEGER and x.dtype != y.dtype:
        mismatch("pow", (x, y))
    return ShapedArray(common_shape("pow", (x, y)), x.dtype, x.weak_type and y.weak_type)


integer_pow_p = Primitive("integer_pow")
"""``x ** y`` for a fixed integer ``y`` (a parameter)."""


@integer_pow_p.def_abstract_eval
def _integer_pow(x: ShapedArray, *, y: int) -> ShapedArray:
    kind = kind_of(x.dtype)
    if kind not in NUMBER:
        reject("integer_pow", x, NUMBER)
    if y < 0 and kind in INTEGER:
        raise TypeError(
            "Integers cannot be raised to negative powers: lax.integer_pow got "
            f"{x.str_short()} and {y}{here()}. Convert the operand to a floating-point type first."
        )
    return x


describe(__name__)
