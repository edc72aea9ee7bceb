"""Primitives of comparisons, logic and bits, rounding, and the test for finite numbers."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from dovetail_core import Primitive, ShapedArray, here

from ..dtypes import kind_of
from .elementwise import ANY, BITS, FLOATING, INTEGER, ORDERED, elementwise, reject
from .traits import describe

_BOOL = np.dtype(np.bool_)


def _bool(dtype: Any) -> Any:
    return _BOOL


eq_p = elementwise(Primitive("eq"), (*ANY, "extended"), result=_bool)
ne_p = elementwise(Primitive("ne"), (*ANY, "extended"), result=_bool)
lt_p = elementwise(Primitive("lt"), ORDERED, result=_bool)
le_p = elementwise(Primitive("le"), ORDERED, result=_bool)
gt_p = elementwise(Primitive("gt"), ORDERED, result=_bool)
ge_p = elementwise(Primitive("ge"), ORDERED, result=_bool)

# In the total order -NaN < -inf < ... < -0 < 0 < ... < inf < NaN, and NaN equals itself.
eq_to_p = elementwise(Primitive("eq_to"), ORDERED, result=_bool)
le_to_p = elementwise(Primitive("le_to"), ORDERED, result=_bool)
lt_to_p = elementwise(Primitive("lt_to"), ORDERED, result=_bool)


not_p = elementwise(Primitive("not"), BITS, label="bitwise_not")
and_p = elementwise(Primitive("and"), BITS, label="bitwise_and")
or_p = elementwise(Primitive("or"), BITS, label="bitwise_or")
xor_p = elementwise(Primitive("xor"), BITS, label="bitwise_xor")
shift_left_p = elementwise(Primitive("shift_left"), INTEGER)
shift_right_logical_p = elementwise(Primitive("shift_right_logical"), INTEGER)
shift_right_arithmetic_p = elementwise(Primitive("shift_right_arithmetic"), INTEGER)
population_count_p = elementwise(Primitive("population_count"), INTEGER)
clz_p = elementwise(Primitive("clz"), INTEGER)


class RoundingMethod(IntEnum):
    """The direction in which ``lax.round`` rounds numbers half way between two integers."""

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
            f"negative, got {exponent_bits} and {mantissa_bits}{here()}"
        )
    return x


describe(__name__)
