"""Rounding to a number of decimals, and conversion of a value's parts to integers."""

from __future__ import annotations

from math import log10
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.wrapping import alias
from dovetail_core import cached, here
from dovetail_lax import dtypes

from ..creation.arrays import as_array
from ..fusion import fused, of_one_array
from ..operands import Array, ArrayLike, DTypeError, integer, no_out
from ..operations import number, select
from .arithmetic import FLOOR_DIVIDE
from .unary import round_complex


@of_one_array("decimals", "out")
def round(a: ArrayLike, decimals: int = 0, out: None = None) -> Array:
    """``a`` rounded to a number of decimals, halves to even; negative ones are before the point.

    Raises:
        TypeError: ``a`` is not an array of numbers (for booleans also a ValueError).
    """
    no_out("round", out)
    a, n = as_array("round", a), integer("round", "decimals", decimals)
    if a.dtype.kind == "b":
        raise DTypeError(
            f"round does not accept dtype bool{here()}. Convert the argument with astype."
        )
    if dtypes.issubdtype(a.dtype, np.integer):
        return a if n >= 0 else _round_integer(a, n=n)
    if abs(n) > _most_digits(a.dtype):
        return a if n > 0 else select(lax.is_finite(a), number(a, 0), a)
    return _round_float(a, n=n)


@cached  # called at each eager call
def _most_digits(dtype: Any) -> int:
    """The greatest power of ten that has a reciprocal in the precision of the computation."""
    wide = dtype if dtype.itemsize > 4 else np.dtype(np.float32)
    return int(log10(float(dtypes.finfo(wide).max))) - 1


around = alias(round, "around")


@fused(static=("n",))
def _round_integer(a: Any, n: int) -> Any:
    if 10**-n > dtypes.iinfo(a.dtype).max:
        return lax.full_like(a, 0)
    unit = number(a, 10**-n)
    half = lax.div(unit, number(a, 2))
    rounded = FLOOR_DIVIDE(a, unit)
    rest = lax.sub(a, lax.mul(rounded, unit))
    odd = lax.ne(lax.bitwise_and(rounded, number(a, 1)), number(a, 0))
    up = lax.bitwise_or(lax.gt(rest, half), lax.bitwise_and(lax.eq(rest, half), odd))
    return lax.mul(lax.add(rounded, lax.convert_element_type(up, a.dtype)), unit)


@fused(static=("n",))
def _round_float(a: Any, n: int) -> Any:
    if a.dtype.kind == "c":
        if n == 0:
            return round_complex(a)
        return lax.complex(_round_float(lax.real(a), n=n), _round_float(lax.imag(a), n=n))
    if n == 0:
        return lax.round(a, lax.RoundingMethod.TO_NEAREST_EVEN)
    narrow = a.dtype.itemsize < 4
    x = lax.convert_element_type(a, "float32") if narrow else a
    scale = number(x, 10.0 ** abs(n))
    scaled = lax.mul(x, scale) if n > 0 else lax.div(x, scale)
    rounded = lax.round(scaled, lax.RoundingMethod.TO_NEAREST_EVEN)
    out = lax.div(rounded, scale) if n > 0 else lax.mul(rounded, scale)
    out = select(lax.is_finite(rounded), out, x)  # large numbers have no such digits
    return lax.convert_element_type(out, a.dtype) if narrow else out
