"""Random bits, and what follows from them without rounding: uniform numbers, integers, coins."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

import dovetail_lax as lax
from dovetail_core import enable_x64
from dovetail_jit import fused
from dovetail_lax import dtypes

from ..arguments import (
    NUMBERS,
    Shape,
    arrays,
    check_key,
    common_shape,
    float_dtype,
    int_dtype,
    is_floating,
    no_sharding,
    number,
    parameter,
    shape_of,
)
from ..implementations import UINTS
from ..keys import KeyArray, open_key

I32 = np.dtype(np.int32)


def bits(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Random bits as unsigned integers.

    Args:
        key: a typed or a raw key.
        shape: the shape of the result.
        dtype: an unsigned dtype; by default ``uint32``, or ``uint64`` if 64-bit types are enabled.

    Raises:
        TypeError, ValueError: ``key`` is not one key, ``shape`` no shape, ``dtype`` not unsigned.
    """
    no_sharding("bits", out_sharding)
    found = dtypes.as_dtype(np.uint64 if dtype is None else dtype)
    if found not in UINTS.values():
        raise ValueError(f"bits: dtype must be an unsigned integer dtype, got {found}")
    return _bits(check_key("bits", key), width=8 * found.itemsize, shape=shape_of("bits", shape))


@fused(static=("width", "shape"))
def _bits(key: Any, *, width: int, shape: Shape) -> Any:
    return random_bits(open_key(key), width, shape)


def random_bits(keys: KeyArray, width: int, shape: Shape) -> Any:
    """Random bits of a key that was opened."""
    return keys.impl.random_bits(keys.lanes, width, shape)


def split_keys(keys: KeyArray, n: int) -> list[KeyArray]:
    """``n`` keys made of one that was opened."""
    lanes = keys.impl.split(keys.lanes, (n,))
    return [
        KeyArray(keys.impl, tuple(lax.index_in_dim(x, i, 0, keepdims=False) for x in lanes))
        for i in range(n)
    ]


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
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
    """
    no_sharding("uniform", out_sharding)
    key = check_key("uniform", key)
    found = float_dtype("uniform", dtype)
    if minval.__class__ in NUMBERS and maxval.__class__ in NUMBERS:
        wanted = shape_of("uniform", shape)
        if minval == 0 and maxval == 1:
            return _unit(key, shape=wanted, dtype=found)
    else:
        minval, maxval = arrays("uniform", minval, maxval)
        wanted = common_shape("uniform", shape, minval, maxval)
    return _uniform(key, minval, maxval, shape=wanted, dtype=found)


@fused(static=("shape", "dtype"))
def _unit(key: Any, *, shape: Shape, dtype: Any) -> Any:
    return unit(open_key(key), shape, dtype)


@fused(static=("shape", "dtype"))
def _uniform(key: Any, minval: Any, maxval: Any, *, shape: Shape, dtype: Any) -> Any:
    low, high = parameter(minval, dtype, shape), parameter(maxval, dtype, shape)
    return between(open_key(key), shape, dtype, low, high)


def unit(keys: KeyArray, shape: Shape, dtype: Any) -> Any:
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


@cache
def _layout(dtype: Any) -> tuple[int, Any, Any, Any]:
    """How many random bits a number needs, their type, by how much to shift them, the bits of 1."""
    info: Any = ml_dtypes.finfo(dtype)
    width = info.bits if info.nmant >= 8 else 8
    uint = UINTS[info.bits]
    return width, uint, uint.type(width - info.nmant), np.ones((), dtype).view(uint)[()]


def between(keys: KeyArray, shape: Shape, dtype: Any, low: Any, high: Any) -> Any:
    """Uniform numbers in [low, high): numbers, or arrays of the dtype, of the shape or scalar."""
    if isinstance(low, ON_HOST) and isinstance(high, ON_HOST):
        low, span = _span_of(low, high, dtype, enable_x64.state.value)
    else:
        span = lax.sub_p.bind(high, low)
    scaled = lax.add_p.bind(lax.mul_p.bind(unit(keys, shape, dtype), span), low)
    return lax.max_p.bind(low, scaled)  # rounding, or an inverted range, may lead below


@cache
def _span_of(low: Any, high: Any, dtype: Any, wide: bool) -> tuple[Any, Any]:
    with np.errstate(all="ignore"):
        return number(low, dtype), number(dtype.type(high) - dtype.type(low), dtype)


ON_HOST = (float, np.generic)


def randint(
    key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Integers drawn from ``[minval, maxval)``; ``minval`` where that is empty.

    The draw is very nearly uniform: it is the remainder of twice as many random bits as ``dtype``
    has. Bounds beyond the dtype are brought to its ends; a ``maxval`` above its greatest number
    includes that.

    Args:
        key: a typed or a raw key.
        shape: the shape of the result; None for that of the bounds.
        minval, maxval: integers, or arrays of them that broadcast to ``shape``.
        dtype: an integer dtype; by default ``int32``, or ``int64`` if 64-bit types are enabled.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
    """
    no_sharding("randint", out_sharding)
    key = check_key("randint", key)
    found = int_dtype("randint", dtype)
    minval, maxval = arrays("randint", minval, maxval)
    wanted = common_shape("randint", shape, minval, maxval)
    above = maxval > dtypes.iinfo(found).max if maxval.__class__ in NUMBERS else None
    minval, maxval = _on_host(minval, found), _on_host(maxval, found)
    return _randint(key, minval, maxval, above=above, shape=wanted, dtype=found)


def _on_host(x: Any, dtype: Any) -> Any:
    """A bound that is a Python number, brought to the ends of the dtype."""
    if x.__class__ not in NUMBERS:
        return x
    info = dtypes.iinfo(dtype)
    return dtype.type(min(max(int(x), int(info.min)), int(info.max)))


@fused(static=("above", "shape", "dtype"))
def _randint(
    key: Any, minval: Any, maxval: Any, *, above: bool | None, shape: Shape, dtype: Any
) -> Any:
    return integers(open_key(key), shape, dtype, minval, maxval, above)


def integers(
    keys: KeyArray, shape: Shape, dtype: Any, minval: Any, maxval: Any, above: bool | None = False
) -> Any:
    """Integers of a key that was opened (see :func:`randint`).

    ``above`` says whether ``maxval`` was greater than all numbers of the dtype, None that it must
    be found out.
    """
    info = dtypes.iinfo(dtype)
    over: Any = above
    if above is None:
        over = _wider(maxval, info) and lax.gt(maxval, maxval.dtype.type(int(info.max)))
    # Types narrower than 32 bits are drawn as int32, of which their range is a small part.
    drawn = dtype if info.bits >= 32 else I32
    low, high = (parameter(_clipped(x, info), drawn, shape) for x in (minval, maxval))
    width = max(info.bits, 32)
    first, second = split_keys(keys, 2)
    upper, lower = random_bits(first, width, shape), random_bits(second, width, shape)
    if isinstance(low, np.generic) and isinstance(high, np.generic) and isinstance(over, bool):
        span, power = _span_on_host(int(low), int(high), over, UINTS[width], width)
    else:
        span, power = _span(low, high, over, UINTS[width], width)
    # (upper * 2**width + lower) modulo span
    mixed = lax.add(lax.mul(lax.rem(upper, span), power), lax.rem(lower, span))
    offset = lax.convert_element_type(lax.rem(mixed, span), drawn)
    return lax.convert_element_type(lax.add(offset, low), dtype)


def _span_on_host(low: int, high: int, over: bool, uint: Any, width: int) -> tuple[Any, Any]:
    span = (high - low + over) % (1 << width) if high > low else 1
    # A span of 2**width wraps to 0, by which the remainder is the number itself.
    return uint.type(span), uint.type(pow(2, width, span) if span else 0)


def _span(low: Any, high: Any, over: Any, uint: Any, width: int) -> tuple[Any, Any]:
    """``high - low`` as an unsigned integer (1 where that is empty), and 2**width modulo it."""
    span = lax.convert_element_type(lax.sub(high, low), uint)
    if over is not False:
        span = lax.add(span, uint.type(1) if over is True else lax.convert_element_type(over, uint))
    empty = lax.le(high, low)
    span = lax.select(empty, lax.full_like(span, 1), span)
    root = lax.rem(uint.type(1 << width // 2), span)
    return span, lax.rem(lax.mul(root, root), span)


def _wider(x: Any, info: Any) -> bool:
    """Whether an array of bounds may hold more than the dtype."""
    return x.dtype.kind not in "iu" or int(dtypes.iinfo(x.dtype).max) > int(info.max)


def _clipped(x: Any, info: Any) -> Any:
    """Bounds brought to the ends of the dtype."""
    if isinstance(x, np.generic) or x.dtype == info.dtype or x.dtype.kind not in "iu":
        return x
    own = dtypes.iinfo(x.dtype)
    if int(own.min) < int(info.min):
        x = lax.max(x, x.dtype.type(int(info.min)))
    return lax.min(x, x.dtype.type(int(info.max))) if int(own.max) > int(info.max) else x


def bernoulli(
    key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low", *, out_sharding: Any = None
) -> Any:
    """Booleans that are true with probability ``p``.

    Args:
        key: a typed or a raw key.
        p: a floating-point number, or an array of them that broadcasts to ``shape``.
        shape: the shape of the result; None for that of ``p``.
        mode: ``"low"``, or ``"high"`` for probabilities finer than the dtype's spacing near 1.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
    """
    no_sharding("bernoulli", out_sharding)
    key = check_key("bernoulli", key)
    check_mode("bernoulli", mode)
    (p,) = arrays("bernoulli", p)
    if not is_floating(p):
        raise TypeError(
            f"bernoulli: the probability p must be a floating-point number, got {p!r}. Convert it "
            "with dovetail.numpy.float32."
        )
    return _bernoulli(key, p, shape=common_shape("bernoulli", shape, p), mode=mode)


def check_mode(name: str, mode: str) -> None:
    """Raise unless ``mode`` is ``"low"`` or ``"high"``."""
    if mode not in ("low", "high"):
        raise ValueError(f"{name}: mode must be 'low' or 'high', got {mode!r}")


@fused(static=("shape", "mode"))
def _bernoulli(key: Any, p: Any, *, shape: Shape, mode: str) -> Any:
    keys = open_key(key)
    dtype = float_dtype("bernoulli", getattr(p, "dtype", None))
    p = parameter(p, dtype, shape)
    if mode == "low":
        return lax.lt(unit(keys, shape, dtype), p)
    # The second draw supplies the bits below the spacing of the first.
    coarse, fine = _two(unit(keys, (2, *shape), dtype))
    fine = lax.mul(fine, dtype.type(2.0 ** -ml_dtypes.finfo(dtype).nmant))
    return lax.lt(fine, lax.sub(p, coarse))


def _two(pair: Any) -> list[Any]:
    return [lax.index_in_dim(pair, i, 0, keepdims=False) for i in range(2)]
