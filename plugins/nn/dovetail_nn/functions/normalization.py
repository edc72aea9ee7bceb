"""Standardisation, and one-hot encoding of indices."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.arguments import integer, string
from dovetail_base.source import warn_here
from dovetail_core import here
from dovetail_jit import fused
from dovetail_lax import dtypes
from dovetail_numpy import fusion, operands

from ..arguments import array, axes_of, inexact
from .softmax import Array, ArrayLike, Axis


@fusion.one_call("axis", "algorithm")
def standardize(
    x: ArrayLike,
    axis: Axis = -1,
    mean: ArrayLike | None = None,
    variance: ArrayLike | None = None,
    epsilon: ArrayLike = 1e-5,
    where: ArrayLike | None = None,
    *,
    algorithm: str = "fast",
) -> Array:
    """``(x - mean) / sqrt(variance + epsilon)``: mean 0 and variance 1 along an axis.

    Args:
        x: an array; integers become floating-point numbers.
        axis: the axes to standardise along, or None for all; names are axes of a map around the
            function.
        mean, variance: to be used instead of those of ``x``.
        epsilon: keeps the quotient finite.
        where: a boolean array; where it is false elements do not count for mean and variance.
        algorithm: the formula of the variance: ``"fast"``, mean(x**2) - mean(x)**2 in one pass,
            or ``"stable"``, mean((x - mean)**2).

    Raises:
        TypeError: ``x`` is no array.
        ValueError: an axis is out of bounds, or there is no such algorithm.
    """
    if string("algorithm", algorithm) not in ("fast", "stable"):
        raise ValueError(
            f"standardize: algorithm must be 'fast' or 'stable', got {algorithm!r}{here()}"
        )
    x = inexact("standardize", x)
    names = operands.names_of(axis)
    axes: Any = axes_of("standardize", operands.positions_of(axis) if names else axis, len(x.shape))
    axes += names
    return _standardize(x, mean, variance, epsilon, where, axes=axes, stable=algorithm == "stable")


@fused(static=("axes", "stable"))
def _standardize(
    x: Any,
    mean: Any,
    variance: Any,
    epsilon: Any,
    where: Any,
    *,
    axes: Any,
    stable: bool,
) -> Any:
    def average(v: Any) -> Any:
        return dnp.mean(v, axis=axes, keepdims=True, where=where)

    if mean is None:
        mean = average(x)
    centered = dnp.subtract(x, mean)
    if variance is None and stable:
        variance = average(lax.square(centered))
    elif variance is None:  # rounding must not make it negative
        variance = dnp.maximum(dnp.subtract(average(lax.square(x)), dnp.square(mean)), 0.0)
    return dnp.multiply(centered, lax.rsqrt(inexact("standardize", dnp.add(variance, epsilon))))


def one_hot(x: ArrayLike, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Array:
    """Each index as a vector of zeros with a one at that index (no one, if it is out of range).

    Args:
        x: an array of indices.
        num_classes: the length of the new axis.
        dtype: the dtype of the result; by default that of floating-point numbers.
        axis: the position of the new axis in the result; or the name of a mapped axis, along which
            the result has one class for each element.

    Raises:
        TypeError: ``x`` is no array, or ``num_classes`` not an integer known while tracing.
        ValueError: ``num_classes`` is negative, or the axis is out of bounds.
    """
    if isinstance(x, (list, tuple)):
        x = dnp.asarray(x)
    x = array("one_hot", x)
    n = integer("num_classes", num_classes)
    if n < 0:
        raise ValueError(f"one_hot: num_classes must not be negative, got {n}{here()}")
    if x.dtype.kind == "b":
        raise TypeError(
            f"one_hot takes indices, got booleans{here()}. Convert them to integers first."
        )
    if dtypes.kind_of(x.dtype) not in ("signed", "unsigned"):
        warn_here(
            f"one_hot takes integers as indices, got dtype {x.dtype}{here()}. Convert them first.",
            DeprecationWarning,
        )
    result = dtypes.as_dtype(float if dtype is None else dtype)
    if isinstance(axis, str):
        return _one_hot_along(x, n, result, axis)
    ndim = len(x.shape) + 1
    if not isinstance(axis, int) or not -ndim <= axis < ndim:
        raise ValueError(
            f"one_hot: axis {axis!r} is out of bounds for a result of {ndim} dimensions{here()}"
        )
    return _one_hot(x, n=n, dtype=result, axis=axis % ndim)


def _one_hot_along(x: Any, n: int, dtype: Any, axis: str) -> Any:
    size = lax.axis_size(axis)
    if n != size:
        raise ValueError(
            f"one_hot: num_classes is {n}, but the axis {axis!r} has {size} elements{here()}"
        )
    return lax.convert_element_type(dnp.equal(x, lax.axis_index(axis)), dtype)


@fused(static=("n", "dtype", "axis"))
def _one_hot(x: Any, *, n: int, dtype: Any, axis: int) -> Any:
    shape = (*x.shape[:axis], n, *x.shape[axis:])
    others = tuple([i for i in range(len(shape)) if i != axis])
    classes = lax.iota_p.bind(dtype=x.dtype, shape=shape, dimension=axis)
    spread = lax.broadcast_in_dim_p.bind(x, shape=shape, broadcast_dimensions=others)
    return lax.convert_element_type(lax.eq_p.bind(spread, classes), dtype)
