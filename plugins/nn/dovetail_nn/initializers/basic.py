"""Initializers that look at nothing but the shape: constants and plain distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_core import type_shardings
from dovetail_lax import dtypes

Array = Any
DTypeLike = Any


@runtime_checkable
class Initializer(Protocol):
    """Makes the initial value of a parameter of a shape and dtype from a random key."""

    def __call__(
        self, key: Any, shape: Sequence[int], dtype: DTypeLike = ..., out_sharding: Any = ...
    ) -> Array: ...


def as_dtype(dtype: DTypeLike) -> Any:
    """A dtype argument; None is that of floating-point numbers."""
    return dtypes.as_dtype(float if dtype is None else dtype)


def zeros(
    key: Any, shape: Sequence[int], dtype: DTypeLike = None, out_sharding: Any = None
) -> Array:
    """Zeros; the key is not used."""
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, zeros, key, shape, dtype)
    return dnp.zeros(shape, as_dtype(dtype))


def ones(
    key: Any, shape: Sequence[int], dtype: DTypeLike = None, out_sharding: Any = None
) -> Array:
    """Ones; the key is not used."""
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, ones, key, shape, dtype)
    return dnp.ones(shape, as_dtype(dtype))


def constant(value: Any, dtype: DTypeLike = None) -> Initializer:
    """An initializer that gives ``value``, broadcast to the shape."""
    default = dtype

    def init(
        key: Any, shape: Sequence[int], dtype: DTypeLike = default, out_sharding: Any = None
    ) -> Array:
        if out_sharding is not None:
            return type_shardings.with_out_sharding(out_sharding, init, key, shape, dtype)
        return dnp.full(shape, value, as_dtype(dtype))

    return init


def uniform(scale: Any = 1e-2, dtype: DTypeLike = None) -> Initializer:
    """An initializer that draws from the uniform distribution on ``[0, scale)``."""
    default = dtype

    def init(
        key: Any, shape: Sequence[int], dtype: DTypeLike = default, out_sharding: Any = None
    ) -> Array:
        if out_sharding is not None:
            return type_shardings.with_out_sharding(out_sharding, init, key, shape, dtype)
        return scaled(random.uniform(key, shape, as_dtype(dtype)), scale)

    return init


def normal(stddev: Any = 1e-2, dtype: DTypeLike = None) -> Initializer:
    """An initializer that draws from the normal distribution of a standard deviation."""
    default = dtype

    def init(
        key: Any, shape: Sequence[int], dtype: DTypeLike = default, out_sharding: Any = None
    ) -> Array:
        if out_sharding is not None:
            return type_shardings.with_out_sharding(out_sharding, init, key, shape, dtype)
        return scaled(random.normal(key, shape, as_dtype(dtype)), stddev)

    return init


def truncated_normal(
    stddev: Any = 1e-2, dtype: DTypeLike = None, lower: Any = -2.0, upper: Any = 2.0
) -> Initializer:
    """An initializer that draws from the normal distribution cut off at ``lower`` and ``upper``.

    The bounds are those before the multiplication by ``stddev``, which is the standard deviation
    of the distribution that is cut.
    """
    default = dtype

    def init(
        key: Any, shape: Sequence[int], dtype: DTypeLike = default, out_sharding: Any = None
    ) -> Array:
        if out_sharding is not None:
            return type_shardings.with_out_sharding(out_sharding, init, key, shape, dtype)
        result = as_dtype(dtype)
        return scaled(random.truncated_normal(key, lower, upper, shape, result), stddev)

    return init


def scaled(x: Array, scale: Any) -> Array:
    """``x * scale`` in the dtype of ``x``."""
    return dnp.multiply(x, dnp.asarray(scale, x.dtype))
