"""Distributions of real numbers that are functions of one uniform draw."""

from __future__ import annotations

from functools import cache
from math import pi, sqrt
from typing import Any

import ml_dtypes
import numpy as np

import dovetail_lax as lax
from dovetail_jit import fused

from ..arguments import (
    Shape,
    arrays,
    check_key,
    common_shape,
    float_dtype,
    no_sharding,
    number,
    parameter,
    shape_of,
)
from ..keys import KeyArray, open_key
from .uniform import _two, between, check_mode, split_keys, unit


def normal(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Numbers drawn from the normal distribution of mean 0 and variance 1.

    Args:
        key: a typed or a raw key.
        shape: the shape of the result.
        dtype: a floating-point or complex dtype; real and imaginary parts of complex numbers have
            variance 1/2 each.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
    """
    no_sharding("normal", out_sharding)
    found = float_dtype("normal", dtype, complex_too=True)
    return _normal(check_key("normal", key), shape=shape_of("normal", shape), dtype=found)


@fused(static=("shape", "dtype"))
def _normal(key: Any, *, shape: Shape, dtype: Any) -> Any:
    return normal_of(open_key(key), shape, dtype)


def normal_of(keys: KeyArray, shape: Shape, dtype: Any) -> Any:
    """Normal numbers of a key that was opened."""
    if dtype.kind == "c":
        part = np.dtype(np.float32 if dtype.itemsize == 8 else np.float64)
        re, im = (normal_of(k, shape, part) for k in split_keys(keys, 2))
        return lax.div(lax.complex(re, im), dtype.type(sqrt(2)))
    low, high, root = _normal_constants(dtype)
    u = between(keys, shape, dtype, low, high)
    return lax.mul_p.bind(lax.erf_inv_p.bind(u), number(root, dtype))


@cache
def _normal_constants(dtype: Any) -> tuple[Any, Any, Any]:
    """The least number above -1 (where erf_inv is infinite), 1, and the root of 2."""
    return np.nextafter(dtype.type(-1), dtype.type(0)), dtype.type(1), dtype.type(sqrt(2))


def _simple(name: str, what: str, draw: Any) -> Any:
    """A public function of key, shape and dtype."""

    @fused(static=("shape", "dtype"))
    def run(key: Any, *, shape: Shape, dtype: Any) -> Any:
        return draw(open_key(key), shape, dtype)

    def function(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
        no_sharding(name, out_sharding)
        found = float_dtype(name, dtype)
        return run(check_key(name, key), shape=shape_of(name, shape), dtype=found)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Numbers drawn from {what}.

    Args:
        key: a typed or a raw key.
        shape: the shape of the result.
        dtype: a floating-point dtype.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
    """
    return function


def exponential_of(keys: KeyArray, shape: Shape, dtype: Any) -> Any:
    """Exponential numbers of a key that was opened."""
    return lax.neg(lax.log1p(lax.neg(unit(keys, shape, dtype))))


def positive(keys: KeyArray, shape: Shape, dtype: Any) -> Any:
    """Uniform numbers from the smallest normal number to 1: their logarithms are finite."""
    return between(keys, shape, dtype, ml_dtypes.finfo(dtype).tiny, dtype.type(1))


def _laplace(keys: KeyArray, shape: Shape, dtype: Any) -> Any:
    info: Any = ml_dtypes.finfo(dtype)
    u = between(keys, shape, dtype, dtype.type(-1) + dtype.type(info.epsneg), dtype.type(1))
    return lax.mul(lax.sign(u), lax.log1p(lax.neg(lax.abs(u))))


def _logistic(keys: KeyArray, shape: Shape, dtype: Any) -> Any:
    u = positive(keys, shape, dtype)
    return lax.sub(lax.log(u), lax.log1p(lax.neg(u)))


def _cauchy(keys: KeyArray, shape: Shape, dtype: Any) -> Any:
    u = between(keys, shape, dtype, dtype.type(ml_dtypes.finfo(dtype).eps), dtype.type(1))
    return lax.tan(lax.mul(dtype.type(pi), lax.sub(u, dtype.type(0.5))))


def _maxwell(keys: KeyArray, shape: Shape, dtype: Any) -> Any:
    vectors = normal_of(keys, (*shape, 3), dtype)
    return lax.sqrt(lax.reduce_sum_p.bind(lax.square(vectors), axes=(len(shape),)))


exponential = _simple("exponential", "the exponential distribution of mean 1", exponential_of)
laplace = _simple("laplace", "the Laplace distribution of location 0 and scale 1", _laplace)
logistic = _simple("logistic", "the logistic distribution of location 0 and scale 1", _logistic)
cauchy = _simple("cauchy", "the Cauchy distribution of location 0 and scale 1", _cauchy)
maxwell = _simple(
    "maxwell", "Maxwell's distribution: lengths of normal vectors in three dimensions", _maxwell
)


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
        mode: ``"low"`` (the default), or ``"high"`` for twice as many random bits, which reach
            further into the upper tail.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
    """
    no_sharding("gumbel", out_sharding)
    mode = "low" if mode is None else mode
    check_mode("gumbel", mode)
    found = float_dtype("gumbel", dtype)
    key = check_key("gumbel", key)
    return _gumbel(key, shape=shape_of("gumbel", shape), dtype=found, mode=mode)


@fused(static=("shape", "dtype", "mode"))
def _gumbel(key: Any, *, shape: Shape, dtype: Any, mode: str) -> Any:
    return gumbel_of(open_key(key), shape, dtype, mode)


def gumbel_of(keys: KeyArray, shape: Shape, dtype: Any, mode: str = "low") -> Any:
    """Gumbel numbers of a key that was opened."""
    if mode == "low":
        return lax.neg(lax.log(lax.neg(lax.log(positive(keys, shape, dtype)))))
    info: Any = ml_dtypes.finfo(dtype)
    coarse, fine = _two(positive(keys, (2, *shape), dtype))
    finer = lax.add(coarse, lax.mul(fine, dtype.type(2.0**-info.nmant)))
    u = lax.select(lax.ge(coarse, dtype.type(0.5)), coarse, finer)
    return lax.neg(lax.log(lax.neg(lax.log1p(lax.neg(u)))))


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
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
    """
    no_sharding("truncated_normal", out_sharding)
    lower, upper = arrays("truncated_normal", lower, upper)
    found = float_dtype("truncated_normal", dtype)
    wanted = common_shape("truncated_normal", shape, lower, upper)
    key = check_key("truncated_normal", key)
    return _truncated_normal(key, lower, upper, shape=wanted, dtype=found)


@fused(static=("shape", "dtype"))
def _truncated_normal(key: Any, lower: Any, upper: Any, *, shape: Shape, dtype: Any) -> Any:
    root = dtype.type(sqrt(2))
    lower, upper = (parameter(x, dtype, shape) for x in (lower, upper))
    low, high = (lax.erf(lax.div(x, root)) for x in (lower, upper))
    x = lax.mul(lax.erf_inv(between(open_key(key), shape, dtype, low, high)), root)
    # Rounding must not lead out of the open interval.
    inner = [
        lax.nextafter(lax.stop_gradient(b), lax.full_like(b, end))
        for b, end in ((lower, np.inf), (upper, -np.inf))
    ]
    return lax.clamp(*(_full(b, shape) for b in inner[:1]), x, _full(inner[1], shape))


def _full(x: Any, shape: Shape) -> Any:
    return x if x.shape in ((), shape) else lax.broadcast(x, shape)


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
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
    """
    return _drawn(_lognormal, "lognormal", key, (sigma,), shape, dtype, out_sharding)


@fused(static=("shape", "dtype"))
def _lognormal(key: Any, sigma: Any, *, shape: Shape, dtype: Any) -> Any:
    sigma = parameter(sigma, dtype, shape)
    return lax.exp(lax.mul(normal_of(open_key(key), shape, dtype), sigma))


def _drawn(
    run: Any, name: str, key: Any, params: tuple[Any, ...], shape: Any, dtype: Any, sharding: Any
) -> Any:
    """``run`` on checked arguments: parameters are arrays or numbers, and give shape and dtype."""
    no_sharding(name, sharding)
    key = check_key(name, key)
    params = tuple(arrays(name, *params))
    found = float_dtype(name, dtype)
    return run(key, *params, shape=common_shape(name, shape, *params), dtype=found)
