"""Distributions with parameters that are functions of uniform, normal and gamma numbers."""

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
    drawn,
    float_dtype,
    full_parameter,
    int_dtype,
    open_key,
    param_dtype,
    parameter,
    shape_of,
)
from ..implementations import fused
from .continuous import exponential_of, maxwell_of
from .gamma import gamma_of
from .normal import normal_of
from .uniform import nonzero, smallest, split_keys, unit


def pareto(
    key: Any, b: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Numbers drawn from the Pareto distribution of shape ``b`` and scale 1.

    Args:
        key: a typed or a raw key.
        b: a number, or an array that broadcasts to ``shape``.
        shape: the shape of the result; None for that of the parameters.
        dtype: a floating-point dtype.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    return drawn(_pareto, "pareto", key, (b,), shape, dtype, out_sharding)


@fused(static=("shape", "dtype"))
def _pareto(key: Any, b: Any, *, shape: Shape, dtype: Any) -> Any:
    return lax.exp(lax.div(exponential_of(open_key(key), shape, dtype), parameter(b, dtype, shape)))


def rayleigh(
    key: Any, scale: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Numbers drawn from the Rayleigh distribution of a scale (arguments as in :func:`pareto`)."""
    return drawn(_rayleigh, "rayleigh", key, (scale,), shape, dtype, out_sharding)


@fused(static=("shape", "dtype"))
def _rayleigh(key: Any, scale: Any, *, shape: Shape, dtype: Any) -> Any:
    log_u = lax.log(nonzero(unit(open_key(key), shape, dtype)))
    return lax.mul(lax.sqrt(lax.mul(log_u, dtype.type(-2))), parameter(scale, dtype, shape))


def weibull_min(
    key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None
) -> Any:
    """Numbers drawn from the Weibull distribution (other arguments as in :func:`pareto`)."""
    params = (scale, concentration)
    return drawn(_weibull_min, "weibull_min", key, params, shape, dtype)


@fused(static=("shape", "dtype"))
def _weibull_min(key: Any, scale: Any, concentration: Any, *, shape: Shape, dtype: Any) -> Any:
    scale, concentration = (parameter(x, dtype, shape) for x in (scale, concentration))
    power = lax.div(dtype.type(1), concentration)
    return lax.mul(lax.pow(exponential_of(open_key(key), shape, dtype), power), scale)


def triangular(
    key: Any, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Numbers drawn from the triangular distribution on ``[left, right]``, its peak at ``mode``.

    Other arguments and errors are those of :func:`pareto`.
    """
    params = (left, mode, right)
    return drawn(_triangular, "triangular", key, params, shape, dtype, out_sharding)


@fused(static=("shape", "dtype"))
def _triangular(key: Any, left: Any, mode: Any, right: Any, *, shape: Shape, dtype: Any) -> Any:
    left, mode, right = (parameter(x, dtype, shape) for x in (left, mode, right))
    width = lax.sub(right, left)
    u = unit(open_key(key), shape, dtype)
    rising = lax.add(left, lax.sqrt(lax.mul(lax.mul(u, width), lax.sub(mode, left))))
    rest = lax.sub(dtype.type(1), u)
    falling = lax.sub(right, lax.sqrt(lax.mul(lax.mul(rest, width), lax.sub(right, mode))))
    peak = lax.div(lax.sub(mode, left), width)
    return lax.clamp(left, lax.select(lax.lt(u, peak), rising, falling), right)


def wald(
    key: Any, mean: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Numbers drawn from Wald's distribution, the inverse Gaussian of scale 1, of a mean.

    Other arguments and errors are those of :func:`pareto`.
    """
    return drawn(_wald, "wald", key, (mean,), shape, dtype, out_sharding)


@fused(static=("shape", "dtype"))
def _wald(key: Any, mean: Any, *, shape: Shape, dtype: Any) -> Any:
    # Of the two roots of a quadratic, whose product is mean**2, one is taken with its probability.
    of_normal, of_uniform = split_keys(open_key(key), 2)
    mean = parameter(mean, dtype, shape)
    z = normal_of(of_normal, shape, dtype)
    y, mean_2 = lax.square(z), lax.square(mean)
    inner = lax.add(lax.mul(lax.mul(dtype.type(4), mean), y), lax.mul(mean_2, lax.square(y)))
    half = dtype.type(0.5)
    middle = lax.add(mean, lax.mul(lax.mul(half, mean_2), y))
    away = lax.mul(lax.mul(half, mean), lax.sqrt(inner))
    w = lax.sub(middle, away)
    w = lax.select(lax.gt(w, dtype.type(0)), w, lax.div(mean_2, lax.add(middle, away)))
    u = unit(of_uniform, shape, dtype)
    return lax.select(lax.le(u, lax.div(mean, lax.add(mean, w))), w, lax.div(mean_2, w))


def geometric(
    key: Any, p: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Counts of trials of success probability ``p`` until one succeeds: integers from 1 on.

    Args:
        key: a typed or a raw key.
        p: a number, or an array that broadcasts to ``shape``.
        shape: the shape of the result; None for that of ``p``.
        dtype: an integer dtype.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    return drawn(_geometric, "geometric", key, (p,), shape, dtype, out_sharding, int_dtype)


@fused(static=("shape", "dtype"))
def _geometric(key: Any, p: Any, *, shape: Shape, dtype: Any) -> Any:
    real = dtypes.as_dtype(float)
    log_u = lax.log(nonzero(unit(open_key(key), shape, real)))
    log_q = lax.log1p(lax.neg(parameter(p, real, shape)))
    count = lax.add(lax.floor(lax.div(log_u, log_q)), real.type(1))
    return lax.convert_element_type(count, dtype)


def double_sided_maxwell(key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None) -> Any:
    """Maxwell numbers of a random sign, times ``scale`` and plus ``loc``.

    Other arguments and errors are those of :func:`pareto`.
    """
    params = (loc, scale)
    return drawn(_double_sided, "double_sided_maxwell", key, params, shape, dtype)


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
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
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
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    name = "generalized_normal"
    return drawn(_generalized_normal, name, key, (p,), shape, dtype, out_sharding)


@fused(static=("shape", "dtype"))
def _generalized_normal(key: Any, p: Any, *, shape: Shape, dtype: Any) -> Any:
    return generalized_of(open_key(key), shape, dtype, _inverse("generalized_normal", p))


def _inverse(name: str, p: Any) -> Any:
    """``1 / p``, in its own precision: that of the draw may be low."""
    p = lax.convert_element_type(p, param_dtype(name, None, p))
    return lax.div(lax.full_like(p, 1), p)


def generalized_of(keys: Any, shape: Shape, dtype: Any, inverse: Any) -> Any:
    """Generalised normal numbers of a key that was opened, ``inverse`` being ``1 / p``."""
    of_gamma, of_sign = split_keys(keys, 2)
    inverse = parameter(inverse, dtype, shape)
    g = gamma_of(of_gamma, inverse, shape, dtype, False)
    return lax.mul(
        signs_of(of_sign, shape, dtype), lax.pow(g, full_parameter(inverse, shape, dtype))
    )


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
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
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
    # Generalised normal numbers, with an exponential one in addition in the norm.
    of_points, of_length = split_keys(open_key(key), 2)
    inverse = _inverse("ball", p)
    points = generalized_of(of_points, shape, dtype, inverse)
    length = exponential_of(of_length, shape[:-1], dtype)
    axis = len(shape) - 1
    powers = lax.pow(lax.abs(points), full_parameter(p, shape, dtype))
    total = lax.add(lax.reduce_sum_p.bind(powers, axes=(axis,)), length)
    total = lax.max(total, smallest(dtype))
    norm = lax.pow(total, full_parameter(inverse, shape[:-1], dtype))
    return lax.div(points, lax.broadcast_in_dim(norm, shape, tuple(range(axis))))
