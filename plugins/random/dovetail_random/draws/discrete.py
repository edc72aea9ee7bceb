"""Uniform integers, and booleans that are true with a given probability."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import ml_dtypes
import numpy as np

import dovetail_lax as lax
from dovetail_base.errors import integer_too_large
from dovetail_core import Cache, enable_x64, here, type_shardings
from dovetail_lax import dtypes

from ..arguments import (
    NUMBERS,
    Shape,
    arrays,
    check_key,
    check_mode,
    common_shape,
    float_dtype,
    int_dtype,
    is_floating,
    open_key,
    parameter,
)
from ..implementations import fused
from ..keys import UINTS, Key
from .uniform import halves, random_bits, split_keys, unit


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
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, bernoulli, key, p, shape, mode)
    key = check_key("bernoulli", key)
    check_mode("bernoulli", mode)
    (p,) = arrays("bernoulli", p)
    if not is_floating(p):
        raise TypeError(
            f"bernoulli: the probability p must be a floating-point number, got {p!r}{here()}. "
            "Convert it with dovetail.numpy.float32."
        )
    return _bernoulli(key, p, shape=common_shape("bernoulli", shape, p), mode=mode)


@fused(static=("shape", "mode"))
def _bernoulli(key: Any, p: Any, *, shape: Shape, mode: str) -> Any:
    keys = open_key(key)
    dtype = float_dtype("bernoulli", getattr(p, "dtype", None))
    p = parameter(p, dtype, shape)
    if mode == "low":
        return lax.lt(unit(keys, shape, dtype), p)
    # The second draw supplies the bits below the spacing of the first.
    coarse, fine = halves(unit(keys, (2, *shape), dtype))
    fine = lax.mul(fine, dtype.type(2.0 ** -ml_dtypes.finfo(dtype).nmant))
    return lax.lt(fine, lax.sub(p, coarse))


I32 = np.dtype(np.int32)


def randint(
    key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Integers drawn from ``[minval, maxval)``; ``minval`` where that is empty.

    The draw is very nearly uniform: it is the remainder of twice as many random bits as ``dtype``
    has. Bounds beyond a narrow dtype are brought to its ends; a ``maxval`` above its greatest
    number includes that.

    Args:
        key: a typed or a raw key.
        shape: the shape of the result; None for that of the bounds.
        minval, maxval: integers, or arrays of them that broadcast to ``shape``.
        dtype: an integer dtype; by default ``int32``, or ``int64`` if 64-bit types are enabled.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
        OverflowError: a bound is a Python integer that neither the dtype nor 32 bits can hold.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding, randint, key, shape, minval, maxval, dtype
        )
    key = check_key("randint", key)
    if minval.__class__ is int is maxval.__class__ and shape.__class__ is tuple:
        given = minval, maxval, shape, dtype, enable_x64.state.value
        try:
            minval, maxval, options = _checked_bounds[given]
        except (KeyError, TypeError):
            minval, maxval, options = _operands_of(minval, maxval, shape, dtype)
            with suppress(TypeError):  # a dimension or dtype that cannot be hashed
                _checked_bounds[given] = minval, maxval, options
    else:
        minval, maxval, options = _operands_of(minval, maxval, shape, dtype)
    return _randint(key, minval, maxval, **options)


_checked_bounds: Cache[Any, tuple[Any, Any, dict[str, Any]]] = Cache()
"""The results of :func:`_operands_of` for Python integers."""


def _operands_of(
    minval: Any, maxval: Any, shape: Any, dtype: Any
) -> tuple[Any, Any, dict[str, Any]]:
    """The bounds as operands, and the static arguments."""
    result = int_dtype("randint", dtype, TypeError)
    minval, maxval = arrays("randint", minval, maxval)
    wanted = common_shape("randint", shape, minval, maxval)
    above = maxval > dtypes.iinfo(result).max if maxval.__class__ in NUMBERS else None
    options = {"above": above, "shape": wanted, "dtype": result}
    return _on_host(minval, result), _on_host(maxval, result), options


def _on_host(x: Any, dtype: Any) -> Any:
    """A bound that is a Python number, brought to the ends of the dtype."""
    if x.__class__ not in NUMBERS:
        return x
    info = dtypes.iinfo(dtype)
    least, most = min(int(info.min), -(1 << 31)), max(int(info.max) + 1, (1 << 31) - 1)
    if not least <= x <= most:
        if isinstance(x, int):
            raise integer_too_large(x, dtype)
        raise ValueError(f"randint: a bound must be a number of {dtype}, got {x}{here()}")
    return dtype.type(min(max(int(x), int(info.min)), int(info.max)))


@fused(static=("above", "shape", "dtype"))
def _randint(
    key: Any, minval: Any, maxval: Any, *, above: bool | None, shape: Shape, dtype: Any
) -> Any:
    return integers(open_key(key), shape, dtype, minval, maxval, above)


def integers(
    keys: Key, shape: Shape, dtype: Any, minval: Any, maxval: Any, above: bool | None = False
) -> Any:
    """Integers of a key that was opened (see :func:`randint`).

    ``above`` is True if ``maxval`` was greater than all numbers of the dtype, None if that is still
    to be computed.
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
    """True if an array of bounds may hold numbers beyond the dtype."""
    return x.dtype.kind not in "iu" or int(dtypes.iinfo(x.dtype).max) > int(info.max)


def _clipped(x: Any, info: Any) -> Any:
    """Bounds brought to the ends of the dtype."""
    if isinstance(x, np.generic) or x.dtype == info.dtype or x.dtype.kind not in "iu":
        return x
    own = dtypes.iinfo(x.dtype)
    if int(own.min) < int(info.min):
        x = lax.max(x, x.dtype.type(int(info.min)))
    return lax.min(x, x.dtype.type(int(info.max))) if int(own.max) > int(info.max) else x
