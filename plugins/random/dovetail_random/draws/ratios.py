"""Distributions that are ratios and products of gamma variates."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
from dovetail_base.arguments import integers
from dovetail_core import here, type_shardings
from dovetail_lax.numerics import scaling

from ..arguments import (
    Shape,
    arrays,
    check_key,
    common_shape,
    drawn,
    float_dtype,
    open_key,
    parameter,
)
from ..implementations import fused
from ..keys import Key
from .gamma import gamma_of
from .normal import normal_of
from .uniform import smallest, split_keys


def beta(
    key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Numbers drawn from the beta distribution of parameters ``a`` and ``b``.

    Arguments and errors are those of :func:`gamma`.
    """
    return drawn(_beta, "beta", key, (a, b), shape, dtype, out_sharding)


@fused(static=("shape", "dtype"))
def _beta(key: Any, a: Any, b: Any, *, shape: Shape, dtype: Any) -> Any:
    pair = zip(split_keys(open_key(key), 2), (a, b))
    logs = [gamma_of(k, p, shape, dtype, True) for k, p in pair]
    greatest = lax.max(*logs)
    x, y = (lax.exp(scaling.below(v, greatest)) for v in logs)
    return lax.div(x, lax.add(x, y))


def dirichlet(
    key: Any, alpha: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Vectors drawn from the Dirichlet distribution: positive, of sum 1.

    Args:
        key: a typed or a raw key.
        alpha: an array whose last axis holds the parameters of one distribution.
        shape: the shape of the result without its last axis; None for that of ``alpha``.
        dtype: a floating-point dtype.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, dirichlet, key, alpha, shape, dtype)
    key = check_key("dirichlet", key)
    (alpha,) = arrays("dirichlet", alpha)
    if not getattr(alpha, "shape", ()):
        raise ValueError(
            "dirichlet: alpha needs at least one axis, that of the parameters of one distribution; "
            f"got a scalar{here()}"
        )
    result = float_dtype("dirichlet", dtype)
    n = alpha.shape[-1]
    wanted = alpha.shape if shape is None else (*integers("shape", shape), n)
    return _dirichlet(key, alpha, shape=common_shape("dirichlet", wanted, alpha), dtype=result)


@fused(static=("shape", "dtype"))
def _dirichlet(key: Any, alpha: Any, *, shape: Shape, dtype: Any) -> Any:
    logs = gamma_of(open_key(key), alpha, shape, dtype, True)
    axis = len(shape) - 1
    # The softmax of the logarithms.
    keep = (*shape[:-1], 1)
    greatest = lax.reshape(lax.reduce_max_p.bind(logs, axes=(axis,)), keep)
    greatest = lax.broadcast_in_dim(greatest, shape, tuple(range(axis + 1)))
    x = lax.exp(scaling.below(logs, greatest))
    total = lax.reshape(lax.reduce_sum_p.bind(x, axes=(axis,)), keep)
    return lax.div(x, lax.broadcast_in_dim(total, shape, tuple(range(axis + 1))))


def chisquare(
    key: Any, df: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Any:
    """Numbers drawn from the chi-square distribution of ``df`` degrees of freedom.

    Arguments and errors are those of :func:`gamma`.
    """
    return drawn(_chisquare, "chisquare", key, (df,), shape, dtype, out_sharding)


@fused(static=("shape", "dtype"))
def _chisquare(key: Any, df: Any, *, shape: Shape, dtype: Any) -> Any:
    return chisquare_of(open_key(key), df, shape, dtype)


def chisquare_of(keys: Key, df: Any, shape: Shape, dtype: Any) -> Any:
    """Chi-square variates of a key that was opened."""
    half = lax.div(parameter(df, dtype, shape), dtype.type(2))
    log_g = gamma_of(keys, half, shape, dtype, True)
    return lax.mul(lax.exp(log_g), dtype.type(2))


def t(key: Any, df: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Any:
    """Numbers drawn from Student's t distribution of ``df`` degrees of freedom.

    Arguments and errors are those of :func:`gamma`.
    """
    return drawn(_t, "t", key, (df,), shape, dtype, out_sharding)


@fused(static=("shape", "dtype"))
def _t(key: Any, df: Any, *, shape: Shape, dtype: Any) -> Any:
    of_normal, of_gamma = split_keys(open_key(key), 2)
    n = normal_of(of_normal, shape, dtype)
    half = lax.div(parameter(df, dtype, shape), dtype.type(2))
    g = gamma_of(of_gamma, half, shape, dtype, False)
    return lax.mul(n, lax.sqrt(lax.div(half, lax.max(g, smallest(dtype)))))


def f(
    key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = None, *,
    out_sharding: Any = None,
) -> Any:  # fmt: skip
    """Numbers drawn from the F distribution: the ratio of two chi-squares, each by its freedom.

    Arguments and errors are those of :func:`gamma`.
    """
    return drawn(_f, "f", key, (dfnum, dfden), shape, dtype, out_sharding)


@fused(static=("shape", "dtype"))
def _f(key: Any, dfnum: Any, dfden: Any, *, shape: Shape, dtype: Any) -> Any:
    of_den, of_num = split_keys(open_key(key), 2)
    numerator, denominator = (
        lax.div(chisquare_of(k, df, shape, dtype), parameter(df, dtype, shape))
        for k, df in ((of_num, dfnum), (of_den, dfden))
    )
    return lax.div(numerator, lax.max(denominator, smallest(dtype)))
