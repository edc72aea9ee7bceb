"""Samples of arithmetic, comparisons, bits and rounding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail_testing import Sample

from ..primitives import arithmetic as a, discrete as d
from ..primitives.discrete import RoundingMethod
from .kinds import FLOATS, INTEGERS, numbers, one_operand, operands, undifferentiated

NUMBERS = (*FLOATS, "complex64", *INTEGERS)
SIGNED = (*FLOATS, "complex64", "int32", "int8")
ANY = (0.5, 3.0)
ROUND = (-3.0, 3.0)


def _arithmetic() -> Iterator[Sample]:
    """Sums, products, quotients, signs, powers and roots."""
    ints = ("int32", "uint8", "int8")
    for p in (a.add_p, a.sub_p, a.mul_p):
        yield from operands(p, [ROUND, ROUND], SIGNED, extremes=("float32", *ints))
        yield from operands(p, [ANY, ANY], INTEGERS)
    yield from operands(a.div_p, [ROUND, (1.0, 3.0)], (*SIGNED, "uint8"))
    yield from operands(a.div_p, [ROUND, (1.0, 3.0)], ["float32"], extremes=("float32", *ints))
    yield from operands(a.rem_p, [(4.1, 5.9), (3.0, 3.9)], ("float32", "bfloat16", *INTEGERS),
                        extremes=("float32", *ints))  # fmt: skip
    for p in (a.max_p, a.min_p):
        yield from operands(p, [(0, 1), (1.5, 3)], (*NUMBERS, "bool"))
        wide = ("float32", *ints)
        yield from operands(p, [ROUND, ROUND], ["float32"], extremes=wide, smooth=False)
        ties = np.array([1.0, 2.0, -1.0], np.float32)
        yield Sample(p, (ties, ties[::-1].copy()), tags=frozenset({"nonsmooth"}))
    yield from one_operand(a.neg_p, ROUND, SIGNED, extremes=("float32", *ints))
    yield from one_operand(a.sign_p, ANY, NUMBERS, extremes=("float32", *ints))
    yield from one_operand(a.abs_p, (-3.0, -0.5), SIGNED, extremes=("float32", "int32", "int8"))
    yield from one_operand(a.square_p, ROUND, SIGNED, extremes=("float32", "int32"))
    yield from one_operand(a.sqrt_p, ANY, (*FLOATS, "complex64"), extremes=("float32",))
    yield from one_operand(a.rsqrt_p, ANY, (*FLOATS, "complex64"), extremes=("float32",))
    yield from one_operand(a.cbrt_p, ANY, FLOATS, extremes=("float32",))
    for y in (-2, -1, 0, 1, 2, 3, 7):
        dtypes = ("float32", "bfloat16", "complex64", *(("int32", "uint8") if y >= 0 else ()))
        yield from one_operand(a.integer_pow_p, (1.5, 3.0), dtypes, extremes=("float32",), y=y)
    yield from operands(a.pow_p, [ANY, ROUND], (*FLOATS, "complex64"), extremes=("float32",))
    base = np.array([0.0, 1.5, -2.0, 3.0], np.float32)
    yield Sample(a.pow_p, (base, np.array([0, 2, 3, -1], np.int32)))
    yield Sample(a.pow_p, (base, 2.0), tags=frozenset({"nonsmooth"}))  # in the exponent
    half = base.astype(np.float16)
    yield Sample(a.mul_p, (half, half), {"out_dtype": np.dtype(np.float32)})
    steps = operands(a.nextafter_p, [ROUND, ROUND], ("float32", "bfloat16"), extremes=("float32",))
    yield from map(undifferentiated, steps)
    yield from operands(a.mulhi_p, [(0, 7), (0, 7)], INTEGERS, extremes=INTEGERS)


SMALL = (0, 7)


def _discrete() -> Iterator[Sample]:
    """Operations that are piecewise constant: their derivatives are zero away from the jumps."""
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


def samples() -> Iterator[Sample]:
    """The samples of arithmetic, then those of discrete operations."""
    yield from _arithmetic()
    yield from _discrete()
