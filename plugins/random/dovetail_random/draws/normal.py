"""Normal numbers, truncated normal and lognormal ones."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import cached, type_shardings

from ..arguments import (
    Shape,
    check_key,
    drawn,
    float_dtype,
    number,
    open_key,
    parameter,
    shape_of,
)
from ..implementations import fused
from ..keys import Key
from .uniform import between, split_keys


def normal(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Numbers drawn from the normal distribution of mean 0 and variance 1.

    Args:
        key: a typed or a raw key.
        shape: the shape of the result.
        dtype: a floating-point or complex dtype; real and imaginary parts of complex numbers have
            variance 1/2 each.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, normal, key, shape, dtype)
    result = float_dtype("normal", dtype, complex_too=True)
    return _normal(check_key("normal", key), shape=shape_of("normal", shape), dtype=result)


@fused(static=("shape", "dtype"))
def _normal(key: Any, *, shape: Shape, dtype: Any) -> Any:
    return normal_of(open_key(key), shape, dtype)


def normal_of(keys: Key, shape: Shape, dtype: Any) -> Any:
    """Normal numbers of a key that was opened."""
    if dtype.kind == "c":
        part = np.dtype(np.float32 if dtype.itemsize == 8 else np.float64)
        re, im = (normal_of(k, shape, part) for k in split_keys(keys, 2))
        return lax.div(lax.complex(re, im), dtype.type(sqrt(2)))
    low, high, root = _normal_constants(dtype)
    u = between(keys, shape, dtype, low, high)
    return lax.mul_p.bind(lax.erf_inv_p.bind(u), number(root, dtype))


@cached
def _normal_constants(dtype: Any) -> tuple[Any, Any, Any]:
    """The least number above -1 (where erf_inv is infinite), 1, and the root of 2."""
    return np.nextafter(dtype.type(-1), dtype.type(0)), dtype.type(1), dtype.type(sqrt(2))


def truncated_normal(
    key: Any,
    lower: Any,
    upper: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """Numbers drawn from the standard normal distribution cut off at ``lower`` and ``upper``.

    Args:
        key: a typed or a raw key.
        lower, upper: numbers, or arrays that broadcast to ``shape``.
        shape: the shape of the result; None for that of the bounds.
        dtype: a floating-point dtype.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    bounds = (lower, upper)
    return drawn(_truncated_normal, "truncated_normal", key, bounds, shape, dtype, out_sharding)


@fused(static=("shape", "dtype"))
def _truncated_normal(key: Any, lower: Any, upper: Any, *, shape: Shape, dtype: Any) -> Any:
    root = dtype.type(sqrt(2))
    lower, upper = (parameter(x, dtype, shape) for x in (lower, upper))
    low, high = (lax.erf(lax.div(x, root)) for x in (lower, upper))
    # erf_inv is infinite at -1 and 1, which erf of -6 and 6 may be.
    end = _normal_constants(dtype)[0]
    u = lax.clamp(end, between(open_key(key), shape, dtype, low, high), -end)
    x = lax.mul(lax.erf_inv(u), root)
    # Rounding must not lead out of the open interval.
    least, greatest = (
        lax.nextafter(lax.stop_gradient(bound), lax.full_like(bound, end))
        for bound, end in ((lower, np.inf), (upper, -np.inf))
    )
    return lax.clamp(least, x, greatest)


def lognormal(
    key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Exponentials of normal numbers of mean 0 and standard deviation ``sigma``.

    Args:
        key: a typed or a raw key.
        sigma: a number, or an array that broadcasts to ``shape``.
        shape: the shape of the result; None for that of ``sigma``.
        dtype: a floating-point dtype.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    return drawn(_lognormal, "lognormal", key, (sigma,), shape, dtype, out_sharding)


@fused(static=("shape", "dtype"))
def _lognormal(key: Any, sigma: Any, *, shape: Shape, dtype: Any) -> Any:
    sigma = parameter(sigma, dtype, shape)
    return lax.exp(lax.mul(normal_of(open_key(key), shape, dtype), sigma))
