"""Narrow types computed in single precision, and exp(-x²) to the last digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail_core import typeof

from ..functions.creation import full
from ..primitives.arithmetic import add_p, max_p, min_p, mul_p, neg_p, square_p, sub_p
from ..primitives.discrete import reduce_precision_p
from ..primitives.reductions import reduce_or_p
from ..primitives.shape import broadcast_in_dim_p
from ..primitives.transcendental import exp_p
from ..primitives.values import convert_element_type_p
from ..scalars import scalar

_FLOAT32 = np.dtype(np.float32)


def in_single(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` of equally shaped float32 or float64, for any floating-point type and for scalars."""

    def run(*args: Any) -> Any:
        avals: list[Any] = [typeof(x) for x in args]
        shape = next((a.shape for a in avals if a.shape), ())
        dtype = avals[0].dtype
        work = dtype if dtype.itemsize >= 4 else _FLOAT32
        out = f(*[_prepared(x, a, shape, work) for x, a in zip(args, avals)])
        weak = all(a.weak_type for a in avals)
        return out if work == dtype and not weak else _converted(out, dtype, weak)

    return run


def _prepared(x: Any, aval: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    if aval.dtype != dtype or aval.weak_type:
        x = _converted(x, dtype, False)
    if aval.shape != shape:
        x = broadcast_in_dim_p.bind(x, shape=shape, broadcast_dimensions=())
    return x


def _converted(x: Any, dtype: Any, weak: bool) -> Any:
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=weak)


def filled(like: Any, value: float) -> Any:
    """An array like ``like`` of one value."""
    return full(like.shape, value, like.dtype)


def epsilon(dtype: Any) -> float:
    """The distance from 1 to the next number."""
    return float(np.finfo(dtype).eps)


def any_true(x: Any) -> Any:
    """A scalar boolean: true if any element is."""
    return reduce_or_p.bind(x, axes=tuple(range(len(x.shape))))


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
