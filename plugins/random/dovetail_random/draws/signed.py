"""Random signs, and symmetric distributions made with them."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import here, type_shardings
from dovetail_lax import dtypes

from ..arguments import (
    Shape,
    arrays,
    check_key,
    common_shape,
    float_dtype,
    open_key,
    param_dtype,
    parameter,
    shape_of,
)
from ..fusing import fused
from .continuous import exponential_of, maxwell_of
from .gamma import gamma_of
from .normal import drawn
from .rejection import filled
from .uniform import smallest, split_keys, unit


def double_sided_maxwell(key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Maxwell numbers of a random sign, times ``scale`` and plus ``loc``.

    Other arguments and errors are those of :func:`pareto`.
    """
    params = (loc, scale)
    return drawn(_double_sided, "double_sided_maxwell", key, params, shape, dtype, None)


@fused(static=("shape", "dtype"))
def _double_sided(key: Any, loc: Any, scale: Any, *, shape: Shape, dtype: Any) -> Any:
    of_length, of_sign = split_keys(open_key(key), 2)
    length = maxwell_of(of_length, shape, dtype)
    sign = signs_of(of_sign, shape, dtype)
    scaled = lax.mul(lax.mul(length, sign), parameter(scale, dtype, shape))
    return lax.add(scaled, parameter(loc, dtype, shape))


def signs_of(keys: Any, shape: Shape, dtype: Any) -> Any:
    """Random signs of a key that was opened."""
    real = dtypes.as_dtype(float)
    coin = lax.lt(unit(keys, shape, real), real.type(0.5))
    number = lax.convert_element_type(coin, dtype)
    return lax.sub(lax.mul(number, dtype.type(2)), dtype.type(1))


def rademacher(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Numbers that are 1 or -1, each with probability 1/2.

    Args:
        key: a typed or a raw key.
        shape: the shape of the result.
        dtype: a dtype of signed numbers; by default that of integers.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, rademacher, key, shape, dtype)
    result = dtypes.as_dtype(int if dtype is None else dtype)
    key = check_key("rademacher", key)
    return _rademacher(key, shape=shape_of("rademacher", shape), dtype=result)


@fused(static=("shape", "dtype"))
def _rademacher(key: Any, *, shape: Shape, dtype: Any) -> Any:
    if dtype.kind == "b":  # neither number is zero
        return lax.full(shape, True, dtype)
    return signs_of(open_key(key), shape, dtype)


def generalized_normal(
    key: Any, p: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Numbers drawn with density proportional to ``exp(-abs(x)**p)``.

    Args:
        key: a typed or a raw key.
        p: the exponent, a number or an array that broadcasts to ``shape``.
        shape: the shape of the result.
        dtype: a floating-point dtype.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding, generalized_normal, key, p, shape, dtype
        )
    result = float_dtype("generalized_normal", dtype)
    key = check_key("generalized_normal", key)
    (p,) = arrays("generalized_normal", p)
    wanted = common_shape("generalized_normal", shape, p)
    return _generalized_normal(key, p, shape=wanted, dtype=result)


@fused(static=("shape", "dtype"))
def _generalized_normal(key: Any, p: Any, *, shape: Shape, dtype: Any) -> Any:
    return generalized_of(open_key(key), shape, dtype, _inverse("generalized_normal", p))


def _inverse(name: str, p: Any) -> Any:
    """``1 / p``, in a precision of its own: that of the draw may be low."""
    p = lax.convert_element_type(p, param_dtype(name, None, p))
    return lax.div(lax.full_like(p, 1), p)


def generalized_of(keys: Any, shape: Shape, dtype: Any, inverse: Any) -> Any:
    """Generalised normal numbers of a key that was opened, ``inverse`` being ``1 / p``."""
    of_gamma, of_sign = split_keys(keys, 2)
    inverse = parameter(inverse, dtype, shape)
    g = gamma_of(of_gamma, inverse, shape, dtype, False)
    return lax.mul(signs_of(of_sign, shape, dtype), lax.pow(g, filled(inverse, shape, dtype)))


def ball(
    key: Any, d: int, p: Any = 2, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Points drawn uniformly from the unit ball of the ``p``-norm in ``d`` dimensions.

    Args:
        key: a typed or a raw key.
        d: the number of dimensions, the last axis of the result.
        p: the exponent of the norm, a number or an array without axes.
        shape: the other axes of the result.
        dtype: a floating-point dtype.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, ball, key, d, p, shape, dtype)
    result = float_dtype("ball", dtype)
    key = check_key("ball", key)
    wanted = (*shape_of("ball", shape), *shape_of("ball", (d,)))
    (p,) = arrays("ball", p)
    if np.shape(p):
        raise ValueError(
            f"ball: p must be one number, got an array of shape {np.shape(p)}{here()}. Use "
            "dovetail.vmap to draw from balls of several norms."
        )
    return _ball(key, p, shape=wanted, dtype=result)


@fused(static=("shape", "dtype"))
def _ball(key: Any, p: Any, *, shape: Shape, dtype: Any) -> Any:
    # Generalised normal numbers, with an exponential one beside them in the norm.
    of_points, of_length = split_keys(open_key(key), 2)
    inverse = _inverse("ball", p)
    points = generalized_of(of_points, shape, dtype, inverse)
    length = exponential_of(of_length, shape[:-1], dtype)
    axis = len(shape) - 1
    powers = lax.pow(lax.abs(points), filled(p, shape, dtype))
    total = lax.add(lax.reduce_sum_p.bind(powers, axes=(axis,)), length)
    total = lax.max(total, smallest(dtype))
    norm = lax.pow(total, filled(inverse, shape[:-1], dtype))
    return lax.div(points, lax.broadcast_in_dim(norm, shape, tuple(range(axis))))
