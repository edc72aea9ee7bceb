"""Distributions of real numbers without parameters."""

from __future__ import annotations

from math import pi
from typing import Any

import ml_dtypes

import dovetail_lax as lax
from dovetail_core import type_shardings

from ..arguments import (
    Shape,
    check_key,
    float_dtype,
    open_key,
    shape_of,
)
from ..fusing import fused
from ..keys import Key
from .normal import normal_of
from .uniform import between, smallest, unit


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
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
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
    size = lax.abs(u)  # with more digits near 0 than 1 less it has: those are added
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
