"""Distributions of real numbers without parameters, Gumbel's with more or fewer random bits."""

from __future__ import annotations

from math import pi
from typing import Any

import ml_dtypes
import numpy as np

import dovetail_lax as lax
from dovetail_base.options import as_bool
from dovetail_core import Option, config, type_shardings

from ..arguments import Shape, check_key, check_mode, float_dtype, open_key, shape_of
from ..implementations import fused
from ..keys import UINTS, Key
from .normal import normal_of
from .uniform import between, halves, random_bits, smallest, unit


def _simple(name: str, what: str, draw: Any) -> Any:
    """A public function of key, shape and dtype."""

    @fused(static=("shape", "dtype"))
    def run(key: Any, *, shape: Shape, dtype: Any) -> Any:
        return draw(open_key(key), shape, dtype)

    def function(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
        if out_sharding is not None:
            return type_shardings.with_out_sharding(out_sharding, function, key, shape, dtype)
        result = float_dtype(name, dtype)
        return run(check_key(name, key), shape=shape_of(name, shape), dtype=result)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Numbers drawn from {what}.

    Args:
        key: a typed or a raw key.
        shape: the shape of the result.
        dtype: a floating-point dtype.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    return function


def log_rest(u: Any) -> Any:
    """``log(1 - u)`` of uniform numbers in [0, 1): multiples of a spacing, so that 1 - u is exact.

    XLA's code for ``log1p`` takes twice as long; fused with a generator, along short axes, eight
    times.
    """
    return lax.log(lax.sub(u.dtype.type(1), u))


def exponential_of(keys: Key, shape: Shape, dtype: Any) -> Any:
    """Exponential numbers of a key that was opened."""
    return lax.abs(log_rest(unit(keys, shape, dtype)))  # not its negative, which may be -0


def positive(keys: Key, shape: Shape, dtype: Any) -> Any:
    """Uniform numbers from the smallest normal number to 1: their logarithms are finite."""
    return between(keys, shape, dtype, smallest(dtype), dtype.type(1))


def _laplace(keys: Key, shape: Shape, dtype: Any) -> Any:
    info: Any = ml_dtypes.finfo(dtype)
    u = between(keys, shape, dtype, dtype.type(-1) + dtype.type(info.epsneg), dtype.type(1))
    size = lax.abs(u)  # near 0 it has digits that 1 - size loses: those are added
    rest = lax.sub(dtype.type(1), size)
    lost = lax.sub(lax.sub(dtype.type(1), rest), size)
    return lax.mul(lax.sign(u), lax.add(lax.log(rest), lax.div(lost, rest)))


def _logistic(keys: Key, shape: Shape, dtype: Any) -> Any:
    u = positive(keys, shape, dtype)
    return lax.sub(lax.log(u), log_rest(u))


def _cauchy(keys: Key, shape: Shape, dtype: Any) -> Any:
    u = between(keys, shape, dtype, dtype.type(ml_dtypes.finfo(dtype).eps), dtype.type(1))
    return lax.tan(lax.mul(dtype.type(pi), lax.sub(u, dtype.type(0.5))))


def maxwell_of(keys: Key, shape: Shape, dtype: Any) -> Any:
    """Maxwell numbers of a key that was opened."""
    vectors = normal_of(keys, (*shape, 3), dtype)
    return lax.sqrt(lax.reduce_sum_p.bind(lax.square(vectors), axes=(len(shape),)))


exponential = _simple("exponential", "the exponential distribution of mean 1", exponential_of)


laplace = _simple("laplace", "the Laplace distribution of location 0 and scale 1", _laplace)


logistic = _simple("logistic", "the logistic distribution of location 0 and scale 1", _logistic)


cauchy = _simple("cauchy", "the Cauchy distribution of location 0 and scale 1", _cauchy)


maxwell = _simple(
    "maxwell", "Maxwell's distribution: lengths of normal vectors in three dimensions", maxwell_of
)


MODES = ("low", "high", "highest")
high_dynamic_range_gumbel = config.add(
    Option(
        "high_dynamic_range_gumbel",
        False,
        "gumbel, categorical and choice use the mode 'high' where none is given.",
        check=as_bool,
        traced=True,
    )
)
U32 = UINTS[32]
F32 = np.dtype(np.float32)


def gumbel(
    key: Any,
    shape: Any = (),
    dtype: Any = None,
    mode: str | None = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """Numbers drawn from the Gumbel distribution of location 0 and scale 1.

    Args:
        key: a typed or a raw key.
        shape: the shape of the result.
        dtype: a floating-point dtype.
        mode: ``"low"`` (the default); ``"high"`` for twice as many random bits, which reach
            further into the upper tail; ``"highest"`` for all of those bits in float32, without
            rounding, so that both tails are as long as 64 bits make them.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, gumbel, key, shape, dtype, mode)
    mode = default_mode() if mode is None else mode
    check_mode("gumbel", mode, MODES)
    result = float_dtype("gumbel", dtype)
    key = check_key("gumbel", key)
    return _gumbel(key, shape=shape_of("gumbel", shape), dtype=result, mode=mode)


def default_mode() -> str:
    """The mode of draws that name none."""
    return "high" if high_dynamic_range_gumbel.value else "low"


@fused(static=("shape", "dtype", "mode"))
def _gumbel(key: Any, *, shape: Shape, dtype: Any, mode: str) -> Any:
    return gumbel_of(open_key(key), shape, dtype, mode)


def gumbel_of(keys: Key, shape: Shape, dtype: Any, mode: str = "low") -> Any:
    """Gumbel numbers of a key that was opened."""
    if mode == "low":
        return lax.neg(lax.log(lax.neg(lax.log(positive(keys, shape, dtype)))))
    if mode == "highest" and dtype == F32:
        return _of_all_bits(keys, shape)
    info: Any = ml_dtypes.finfo(dtype)
    coarse, fine = halves(positive(keys, (2, *shape), dtype))
    finer = lax.add(coarse, lax.mul(fine, dtype.type(2.0**-info.nmant)))
    u = lax.select(lax.ge(coarse, dtype.type(0.5)), coarse, finer)
    return lax.neg(lax.log(lax.neg(lax.log1p(lax.neg(u)))))


def _of_all_bits(keys: Key, shape: Shape) -> Any:
    """float32 numbers ``-log(-log(1 - u))``, where u has 64 bits after the point.

    The lesser of u and 1 - u is rounded to float32, so that no digits cancel.
    """
    high, low = halves(random_bits(keys, 32, (2, *shape)))
    below = lax.lt(high, U32.type(1 << 31))
    carry = lax.convert_element_type(lax.eq(low, U32.type(0)), U32)
    rest = lax.add(lax.bitwise_not(high), carry), lax.neg(low)
    x = _fraction(lax.select(below, high, rest[0]), lax.select(below, low, rest[1]))
    return lax.neg(lax.log(lax.neg(lax.select(below, lax.log1p(lax.neg(x)), lax.log(x)))))


def _fraction(high: Any, low: Any) -> Any:
    """The float32 of the 64 bits behind a binary point, rounded down (2**-65 for no bit at all)."""
    zeros = lax.clz(high)
    leading = lax.bitwise_or(
        lax.shift_left(high, zeros), lax.shift_right_logical(low, lax.sub(U32.type(32), zeros))
    )  # shifted by 32 it is zero
    more = lax.clz(leading)  # where the upper word had no bit
    mantissa = lax.shift_right_logical(lax.shift_left(leading, more), U32.type(8))
    mantissa = lax.bitwise_and(mantissa, U32.type((1 << 23) - 1))
    exponent = lax.sub(U32.type(126), lax.add(zeros, more))
    bits = lax.bitwise_or(lax.shift_left(exponent, U32.type(23)), mantissa)
    return lax.bitcast_convert_type(bits, F32)
