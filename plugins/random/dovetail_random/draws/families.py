"""Distributions with parameters that are functions of few basic draws."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
from dovetail_core import type_shardings
from dovetail_lax import dtypes

from ..arguments import (
    Shape,
    arrays,
    check_key,
    common_shape,
    int_dtype,
    open_key,
    parameter,
)
from ..fusing import fused
from .continuous import exponential_of
from .normal import drawn, normal_of
from .uniform import nonzero, split_keys, unit


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
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
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
    return drawn(_weibull_min, "weibull_min", key, params, shape, dtype, None)


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
    """How many trials of success probability ``p`` it takes to succeed: integers from 1 on.

    Args:
        key: a typed or a raw key.
        p: a number, or an array that broadcasts to ``shape``.
        shape: the shape of the result; None for that of ``p``.
        dtype: an integer dtype.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, geometric, key, p, shape, dtype)
    result = int_dtype("geometric", dtype)
    key = check_key("geometric", key)
    (p,) = arrays("geometric", p)
    return _geometric(key, p, shape=common_shape("geometric", shape, p), dtype=result)


@fused(static=("shape", "dtype"))
def _geometric(key: Any, p: Any, *, shape: Shape, dtype: Any) -> Any:
    real = dtypes.as_dtype(float)
    log_u = lax.log(nonzero(unit(open_key(key), shape, real)))
    log_q = lax.log1p(lax.neg(parameter(p, real, shape)))
    count = lax.add(lax.floor(lax.div(log_u, log_q)), real.type(1))
    return lax.convert_element_type(count, dtype)
