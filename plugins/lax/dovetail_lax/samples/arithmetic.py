"""Samples of arithmetic."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail_testing import Sample

from ..primitives import arithmetic as a
from .kinds import FLOATS, INTEGERS, one_operand, operands, undifferentiated

NUMBERS = (*FLOATS, "complex64", *INTEGERS)
SIGNED = (*FLOATS, "complex64", "int32", "int8")
ANY = (0.5, 3.0)
ROUND = (-3.0, 3.0)


def samples() -> Iterator[Sample]:
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
