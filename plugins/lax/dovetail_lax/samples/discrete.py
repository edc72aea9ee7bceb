"""Samples of comparisons, bits and rounding."""

from __future__ import annotations

from collections.abc import Iterator

from dovetail_core.testing import Sample

from ..primitives import bits as b, comparison as c, rounding as r
from ..primitives.rounding import RoundingMethod
from .kinds import FLOATS, INTEGERS, numbers, one_operand, operands, undifferentiated

ROUND = (-3.0, 3.0)
SMALL = (0, 7)


def samples() -> Iterator[Sample]:
    """What is constant in pieces: its derivatives are zero away from where it jumps."""
    ordered = (*FLOATS, "bool", *INTEGERS)
    for p in (c.eq_p, c.ne_p):
        dtypes = (*ordered, "complex64")
        yield from operands(p, [SMALL, SMALL], dtypes, extremes=("float32", "bool"))
    for p in (c.lt_p, c.le_p, c.gt_p, c.ge_p):
        yield from operands(p, [SMALL, SMALL], ordered, extremes=("float32", "int32", "uint8"))
    for p in (c.eq_to_p, c.le_to_p, c.lt_to_p):
        yield from operands(p, [SMALL, SMALL], ordered, extremes=("float32", "bfloat16"))
    for p in (b.and_p, b.or_p, b.xor_p):
        yield from operands(p, [SMALL, SMALL], (*INTEGERS, "bool"), extremes=("int32", "uint8"))
    for p in (b.shift_left_p, b.shift_right_logical_p, b.shift_right_arithmetic_p):
        yield from operands(p, [SMALL, SMALL], INTEGERS, extremes=("int32", "uint8", "int8"))
    yield from one_operand(b.not_p, SMALL, (*INTEGERS, "bool"), extremes=("int32", "bool"))
    for p in (b.population_count_p, b.clz_p):
        yield from one_operand(p, SMALL, INTEGERS, extremes=INTEGERS)
    for p in (r.floor_p, r.ceil_p, r.is_finite_p):
        yield from one_operand(p, ROUND, FLOATS, extremes=FLOATS, smooth=False)
        yield Sample(p, (numbers("between", (1.4, 1.6), (3,)),))
    for method in RoundingMethod:
        params = {"rounding_method": method}
        yield from one_operand(r.round_p, ROUND, FLOATS, extremes=FLOATS, smooth=False, **params)
        yield Sample(r.round_p, (numbers("between", (0.9, 1.1), (3,)),), params)
    for exponent, mantissa in ((5, 10), (8, 7), (4, 3), (8, 23), (2, 1)):
        rounded = one_operand(r.reduce_precision_p, ROUND, FLOATS, extremes=("float32",),
                              exponent_bits=exponent, mantissa_bits=mantissa)  # fmt: skip
        yield from map(undifferentiated, rounded)  # only nearly linear, as rounding is
