"""The exponential of a square, to the last digits."""

from __future__ import annotations

from typing import Any

from ..primitives.arithmetic import add_p, max_p, min_p, mul_p, neg_p, square_p, sub_p
from ..primitives.discrete import reduce_precision_p
from ..primitives.transcendental import exp_p
from ..scalars import scalar


def gauss(x: Any, factor: float) -> Any:
    """``exp(factor x²)``, for a factor of 1, -1 or -1/2.

    It is without the error of a rounded square, which the exponential magnifies: with x as h + l,
    h with half of the digits, h² is exact, and the rest of the square small enough for the
    exponential's series. Beyond 40 the result is zero or infinite in double precision.
    """
    dtype = x.dtype
    most = scalar(40.0, dtype)
    x = max_p.bind(min_p.bind(x, most), neg_p.bind(most))
    if dtype.itemsize < 4:
        return exp_p.bind(mul_p.bind(square_p.bind(x), scalar(factor, dtype)))
    exponent, mantissa = (8, 11) if dtype.itemsize == 4 else (11, 25)
    high = reduce_precision_p.bind(x, exponent_bits=exponent, mantissa_bits=mantissa)
    rest = mul_p.bind(sub_p.bind(x, high), mul_p.bind(add_p.bind(x, high), scalar(factor, dtype)))
    series = scalar(1 / 24, dtype)
    for coefficient in (1 / 6, 1 / 2, 1.0, 1.0):
        series = add_p.bind(mul_p.bind(series, rest), scalar(coefficient, dtype))
    return mul_p.bind(exp_p.bind(mul_p.bind(square_p.bind(high), scalar(factor, dtype))), series)
