"""Random bits and uniform numbers, on which all other draws are based."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import dovetail_lax as lax
from dovetail_core import cached, canonical_dtype, enable_x64, here, type_shardings
from dovetail_lax import dtypes

from ..arguments import (
    NUMBERS,
    Shape,
    arrays,
    check_key,
    common_shape,
    float_dtype,
    is_typed,
    number,
    open_key,
    parameter,
    shape_of,
)
from ..implementations import fused
from ..keys import UINTS, Key
from ..primitives import random_bits_p, random_split_p
from ..threefry import how_drawn


def bits(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Random bits as unsigned integers.

    Args:
        key: a typed or a raw key.
        shape: the shape of the result.
        dtype: an unsigned dtype; by default ``uint32``, or ``uint64`` if 64-bit types are enabled.

    Raises:
        TypeError, ValueError: ``key`` is not one key, ``shape`` no shape, ``dtype`` not unsigned.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, bits, key, shape, dtype)
    result = canonical_dtype(np.uint64) if dtype is None else dtypes.as_dtype(dtype)
    if result not in UINTS.values():
        raise ValueError(f"bits: dtype must be an unsigned integer dtype, got {result}{here()}")
    key, width, dims = check_key("bits", key), 8 * result.itemsize, shape_of("bits", shape)
    return random_bits(key, width, dims) if is_typed(key) else _bits(key, width=width, shape=dims)


@fused(static=("width", "shape"))
def _bits(key: Any, *, width: int, shape: Shape) -> Any:
    return random_bits(open_key(key), width, shape)


def random_bits(keys: Key, width: int, shape: Shape) -> Any:
    """Random bits of a key that was opened."""
    return random_bits_p.bind(keys, bit_width=width, shape=shape, **how_drawn())


def split_keys(keys: Key, n: int) -> list[Key]:
    """``n`` keys made of one that was opened."""
    result = random_split_p.bind(keys, shape=(n,), **how_drawn())
    return [lax.index_in_dim(result, i, 0, keepdims=False) for i in range(n)]


def uniform(
    key: Any,
    shape: Any = (),
    dtype: Any = None,
    minval: Any = 0.0,
    maxval: Any = 1.0,
    *,
    out_sharding: Any = None,
) -> Any:
    """Numbers drawn uniformly from ``[minval, maxval)``.

    Args:
        key: a typed or a raw key.
        shape: the shape of the result.
        dtype: a floating-point dtype.
        minval, maxval: numbers, or arrays that broadcast to ``shape``.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding, uniform, key, shape, dtype, minval, maxval
        )
    key = check_key("uniform", key)
    result = float_dtype("uniform", dtype)
    if minval.__class__ in NUMBERS and maxval.__class__ in NUMBERS:
        wanted = shape_of("uniform", shape)
        if minval == 0 and maxval == 1:
            return _unit(key, shape=wanted, dtype=result)
    else:
        minval, maxval = arrays("uniform", minval, maxval)
        wanted = common_shape("uniform", shape, minval, maxval)
    return _uniform(key, minval, maxval, shape=wanted, dtype=result)


@fused(static=("shape", "dtype"))
def _unit(key: Any, *, shape: Shape, dtype: Any) -> Any:
    return unit(open_key(key), shape, dtype)


@fused(static=("shape", "dtype"))
def _uniform(key: Any, minval: Any, maxval: Any, *, shape: Shape, dtype: Any) -> Any:
    low, high = parameter(minval, dtype, shape), parameter(maxval, dtype, shape)
    return between(open_key(key), shape, dtype, low, high)


def unit(keys: Key, shape: Shape, dtype: Any) -> Any:
    """Uniform numbers in [0, 1).

    Random bits as the mantissa of a number from 1 to 2, less 1: all multiples of the spacing of
    numbers there are equally likely.
    """
    width, uint, shift, exponent = _layout(dtype)
    random = random_bits(keys, width, shape)
    if width != 8 * uint.itemsize:
        random = lax.convert_element_type(random, uint)
    mantissa = lax.or_p.bind(lax.shift_right_logical_p.bind(random, shift), exponent)
    numbers = lax.bitcast_convert_type_p.bind(mantissa, new_dtype=dtype)
    return lax.sub_p.bind(numbers, number(1, dtype))


@cached
def _layout(dtype: Any) -> tuple[int, Any, Any, Any]:
    """The count of random bits of a number, their type, the shift that aligns them, the bits of 1.

    Raises:
        TypeError: numbers of ``dtype`` have less than 8 bits.
    """
    info: Any = ml_dtypes.finfo(dtype)
    if info.bits not in UINTS:
        raise TypeError(
            f"random numbers have 8, 16, 32 or 64 bits, those of dtype {dtype} have {info.bits}"
            f"{here()}. Draw numbers of another dtype, and convert them with astype."
        )
    width = info.bits if info.nmant >= 8 else 8
    uint = UINTS[info.bits]
    return width, uint, uint.type(width - info.nmant), np.ones((), dtype).view(uint)[()]


def between(keys: Key, shape: Shape, dtype: Any, low: Any, high: Any) -> Any:
    """Uniform numbers in [low, high): numbers, or arrays of the dtype, of the shape or scalar."""
    if isinstance(low, ON_HOST) and isinstance(high, ON_HOST):
        low, span, last, factor = _range_of(low, high, dtype, enable_x64.state.value)
    else:
        low, span, last, factor = _traced_range(low, high, dtype)
    scaled = lax.add_p.bind(lax.mul_p.bind(unit(keys, shape, dtype), span), low)
    # Rounding may lead to the end that is left out; it, or an inverted range, may lead below.
    result = lax.max_p.bind(low, lax.min_p.bind(scaled, last))
    return result if factor is None else lax.mul_p.bind(result, factor)


@cached
def _range_of(low: Any, high: Any, dtype: Any, wide: bool) -> tuple[Any, ...]:
    """The least number, the length of the range, the last number in it, and a factor for these.

    The factor is None for 1. It is 2, and the others are halves, where the length is no finite
    number.
    """
    low, high, factor = dtype.type(low), dtype.type(high), None
    with np.errstate(all="ignore"):
        if not np.isfinite(high - low) and np.isfinite(low) and np.isfinite(high):
            low, high, factor = low / dtype.type(2), high / dtype.type(2), number(2, dtype)
        span, last = high - low, np.nextafter(high, _least(dtype))
    return number(low, dtype), number(span, dtype), number(last, dtype), factor


def _traced_range(low: Any, high: Any, dtype: Any) -> tuple[Any, ...]:
    """The results of :func:`_range_of` for arrays and scalars."""
    finite = lax.bitwise_and(lax.is_finite(low), lax.is_finite(high))
    long = lax.bitwise_and(finite, lax.bitwise_not(lax.is_finite(lax.sub(high, low))))
    scale, factor = (
        lax.select(long, lax.full_like(long, x, dtype), lax.full_like(long, 1, dtype))
        for x in (0.5, 2)
    )
    low, high = lax.mul(low, scale), lax.mul(high, scale)
    last = lax.nextafter(lax.stop_gradient(high), _least(dtype))
    return low, lax.sub(high, low), last, factor


def _least(dtype: Any) -> Any:
    """The least finite number."""
    return dtype.type(ml_dtypes.finfo(dtype).min)


ON_HOST = (float, np.generic)


def smallest(dtype: Any) -> Any:
    """The smallest normal number."""
    return dtype.type(ml_dtypes.finfo(dtype).tiny)


def nonzero(u: Any) -> Any:
    """Uniform numbers in (0, 1) from those in [0, 1): 0, for all below the spacing, is its half.

    Logarithms of them are finite.
    """
    return lax.max(u, u.dtype.type(ml_dtypes.finfo(u.dtype).eps / 2))


def halves(pair: Any) -> list[Any]:
    """The two elements along the first axis."""
    return [lax.index_in_dim(pair, i, 0, keepdims=False) for i in range(2)]
