"""Primitives that round, and the test for finite numbers."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from dovetail_core import Primitive, ShapedArray

from ..dtypes import kind_of
from ._elementwise import FLOATING, elementwise, place, reject


class RoundingMethod(IntEnum):
    """What ``lax.round`` does with numbers half way between two integers."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


floor_p = elementwise(Primitive("floor"), FLOATING)
ceil_p = elementwise(Primitive("ceil"), FLOATING)
round_p = elementwise(Primitive("round"), FLOATING)
is_finite_p = elementwise(Primitive("is_finite"), FLOATING, result=lambda dtype: np.dtype(np.bool_))

reduce_precision_p = Primitive("reduce_precision")
"""Rounds to a floating-point format of fewer exponent and mantissa bits, of the same type."""


@reduce_precision_p.def_abstract_eval
def _reduce_precision(x: ShapedArray, *, exponent_bits: int, mantissa_bits: int) -> ShapedArray:
    if kind_of(x.dtype) not in FLOATING:
        reject("reduce_precision", x, FLOATING)
    if exponent_bits < 1 or mantissa_bits < 0:
        raise ValueError(
            "lax.reduce_precision takes a positive exponent_bits and a mantissa_bits that is not "
            f"negative, got {exponent_bits} and {mantissa_bits}{place()}"
        )
    return x
