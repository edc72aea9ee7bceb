"""Samples of comparisons, bits and rounding."""

from __future__ import annotations

from collections.abc import Iterator

from dovetail_testing import Sample

from ..primitives import discrete as d
from ..primitives.discrete import RoundingMethod
from .kinds import FLOATS, INTEGERS, numbers, one_operand, operands, undifferentiated

ROUND = (-3.0, 3.0)
SMALL = (0, 7)


def samples() -> Iterator[Sample]:
    """What is constant in pieces: its derivatives are zero away from where it jumps."""
    ordered = (*FLOATS, "bool", *INTEGERS)
    for p in (d.eq_p, d.ne_p):
        dtypes = (*ordered, "complex64")
        yield from operands(p, [SMALL, SMALL], dtypes, extremes=("float32", "bool"))
    for p in (d.lt_p, d.le_p, d.gt_p, d.ge_p):
        yield from operands(p, [SMALL, SMALL], ordered, extremes=("float32", "int32", "uint8"))
    for p in (d.eq_to_p, d.le_to_p, d.lt_to_p):
        yield from operands(p, [SMALL, SMALL], ordered, extremes=("float32", "bfloat16"))
    for p in (d.and_p, d.or_p, d.xor_p):
        yield from operands(p, [SMALL, SMALL], (*INTEGERS, "bool"), extremes=("int32", "uint8"))
    for p in (d.shift_left_p, d.shift_right_logical_p, d.shift_right_arithmetic_p):
        yield from operands(p, [SMALL, SMALL], INTEGERS, extremes=("int32", "uint8", "int8"))
    yield from one_operand(d.not_p, SMALL, (*INTEGERS, "bool"), extremes=("int32", "bool"))
    for p in (d.population_count_p, d.clz_p):
        yield from one_operand(p, SMALL, INTEGERS, extremes=INTEGERS)
    for p in (d.floor_p, d.ceil_p, d.is_finite_p):
        yield from one_operand(p, ROUND, FLOATS, extremes=FLOATS, smooth=False)
        yield Sample(p, (numbers("between", (1.4, 1.6), (3,)),))
    for method in RoundingMethod:
        params = {"rounding_method": method}
        yield from one_operand(d.round_p, ROUND, FLOATS, extremes=FLOATS, smooth=False, **params)
        yield Sample(d.round_p, (numbers("between", (0.9, 1.1), (3,)),), params)
    for exponent, mantissa in ((5, 10), (8, 7), (4, 3), (8, 23), (2, 1)):
        rounded = one_operand(d.reduce_precision_p, ROUND, FLOATS, extremes=("float32",),
                              exponent_bits=exponent, mantissa_bits=mantissa)  # fmt: skip
        yield from map(undifferentiated, rounded)  # only nearly linear, as rounding is
