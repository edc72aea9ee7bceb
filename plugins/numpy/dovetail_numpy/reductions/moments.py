"""Mean, variance, standard deviation and weighted average."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import ShapedArray, here, is_inexact
from dovetail_lax import dtypes

from ..creation.arrays import as_array
from ..fusion import fused, of_one_array, one_call
from ..operands import (
    Array,
    ArrayLike,
    Axis,
    DTypeError,
    DTypeLike,
    axis_index,
    flag,
    names_of,
    no_out,
    positions_of,
    static_axis,
)
from ..operations import number, select, strong
from ..promotion import (
    broadcast,
    broadcast_shapes,
    convert,
    inexact_dtype,
    narrowed,
    promote,
    requested,
)
from .engine import computation_type, keep_dims, reduce, reduced_axes

FLOAT32 = np.dtype(np.float32)


def _types(aval: ShapedArray, dtype: Any) -> tuple[Any, Any]:
    if dtype is not None:
        result = requested(dtype, aval.dtype)
        return computation_type(result), result
    result = narrowed(inexact_dtype(aval.dtype))
    return computation_type(result), result


@of_one_array("axis", "dtype", "out", "keepdims")
def mean(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None,
    keepdims: bool = False, *, where: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """The arithmetic mean over ``axis``; integers are averaged in floating point.

    Raises:
        TypeError: ``a`` is not an array.
        ValueError: an axis is out of bounds.
    """
    no_out("mean", out)
    a = as_array("mean", a)
    aval = a.aval
    if where is not None:
        mask = _mask("mean", where, aval.shape)
        a, where = broadcast(a, mask.shape), mask
    compute, result = _types(aval, dtype)
    if keepdims.__class__ is not bool:
        keepdims = flag("keepdims", keepdims)
    if names_of(axis):
        return convert(_named_mean("mean", a, where, axis, compute, keepdims), result)
    axes = reduced_axes("mean", axis, a.ndim)
    return _mean(a, where, axes=axes, compute=compute, result=result, keepdims=keepdims)


def _named_mean(name: str, a: Any, where: Any, axis: Any, compute: Any, keepdims: bool) -> Any:
    """The mean over axes of which some are named."""
    total = reduce(name, "sum", a, axis, keepdims, None, where, compute, compute)
    return lax.div(total, _named_count(total, a, where, axis, keepdims))


def _named_count(total: Any, a: Any, where: Any, axis: Any, keepdims: bool = False) -> Any:
    """The number of terms of a sum over axes of which some are named, in the type of the sum."""
    if where is None:
        own = reduced_axes("mean", positions_of(axis), a.ndim)
        return number(total, prod([a.shape[i] for i in own]) * lax.axis_size(names_of(axis)))
    dtype = total.dtype if total.dtype.kind != "c" else FLOAT32
    count = reduce("mean", "sum", where, axis, keepdims, None, None, dtype, dtype)
    return convert(count, total.dtype)


def _named_var(
    name: str, a: Any, where: Any, mean: Any, ddof: Any, axis: Any, compute: Any, keepdims: bool
) -> Any:  # fmt: skip
    """The variance over axes of which some are named."""
    a = convert(a, compute)
    if mean is None:
        mean = _named_mean(name, a, where, axis, compute, True)
    centered = lax.sub(a, broadcast(convert(mean, compute), a.shape))
    if where is not None:
        centered = select(where, centered, number(centered, 0))
    squares = lax.square(lax.abs(centered))
    total = reduce(name, "sum", squares, axis, keepdims, None, where, squares.dtype, squares.dtype)
    left = lax.sub(
        _named_count(total, a, where, axis, keepdims), convert(as_array(name, ddof), total.dtype)
    )
    return select(lax.gt(left, number(left, 0)), lax.div(total, left), number(total, np.nan))


def _mask(name: str, where: Any, shape: tuple[int, ...]) -> Any:
    where = as_array(name, where)
    if where.dtype.kind != "b":
        raise DTypeError(
            f"{name}: where must be an array of booleans, got dtype {where.dtype}{here()}"
        )
    return broadcast(where, broadcast_shapes(name, shape, where.shape))


@fused(static=("axes", "compute", "result", "keepdims"))
def _mean(a: Any, where: Any, axes: Any, compute: Any, result: Any, keepdims: bool) -> Any:
    a = a if a.aval.dtype is compute else convert(a, compute)
    if where is None:
        shape = a.aval.shape
        count: Any = number(a, prod([shape[i] for i in axes]))
    else:
        count = _count(where, axes, compute)
        a = select(where, a, number(a, 0))
    total = strong(lax.reduce_sum_p.bind(a, axes=axes) if axes else a)
    out = lax.div_p.bind(total, count)
    out = out if out.aval.dtype is result else convert(out, result)
    return keep_dims(out, a.aval.shape, axes) if keepdims else out


def _count(where: Any, axes: Any, dtype: Any) -> Any:
    ones = lax.convert_element_type(where, dtype if dtype.kind != "c" else FLOAT32)
    return convert(lax.reduce_sum_p.bind(ones, axes=axes) if axes else ones, dtype)


def var(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None, ddof: Any = 0,
    keepdims: bool = False, *, where: ArrayLike | None = None, mean: ArrayLike | None = None,
    correction: Any = None,
) -> Array:  # fmt: skip
    """The variance over ``axis``: the mean of squared distances from the mean.

    Args:
        ddof, correction: subtracted from the number of elements that the sum is divided by.
        mean: the mean, if it is known (with dimensions kept).

    Raises:
        ValueError: ``ddof`` and ``correction`` are both given, or an axis is out of bounds.
    """
    return _spread("var", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


def std(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None, ddof: Any = 0,
    keepdims: bool = False, *, where: ArrayLike | None = None, mean: ArrayLike | None = None,
    correction: Any = None,
) -> Array:  # fmt: skip
    """The standard deviation over ``axis``: the square root of :func:`var`."""
    return _spread("std", a, axis, dtype, out, ddof, keepdims, where, mean, correction)


def _spread(
    name: str, a: Any, axis: Any, dtype: Any, out: Any, ddof: Any, keepdims: Any, where: Any,
    mean: Any, correction: Any,
) -> Any:  # fmt: skip
    no_out(name, out)
    if correction is not None:
        if ddof.__class__ is not int or ddof != 0:
            raise ValueError(
                f"{name}: ddof and correction mean the same; give only one of them{here()}"
            )
        ddof = correction
    a = as_array(name, a)
    own = a.aval
    if name == "std" and dtype is not None and not is_inexact(dtypes.as_dtype(dtype)):
        raise ValueError(f"std: dtype must be inexact, got {dtype}{here()}")
    if dtype is not None and own.dtype.kind == "c" and np.dtype(dtype).kind != "c":
        raise ValueError(
            f"{name}: dtype {dtype} cannot hold the values of a {own.dtype} array{here()}"
        )
    if where is not None:
        where = _mask(name, where, own.shape)
        a = broadcast(a, where.shape)
    mean = None if mean is None else as_array(name, mean)
    compute, result = _types(own, dtype)
    if not is_inexact(result):
        compute = result = inexact_dtype(own.dtype)
    if names_of(axis):
        keeps = flag("keepdims", keepdims)
        out = _named_var(name, a, where, mean, ddof, axis, compute, keeps)
        out = lax.sqrt(out) if name == "std" else out
        return convert(out, result if result.kind != "c" else out.dtype)
    static = ddof.__class__ in (int, float)
    return _var(a, where, mean, None if static else as_array(name, ddof),
                ddof=ddof if static else 0, axes=reduced_axes(name, axis, a.ndim), compute=compute,
                result=result, keepdims=flag("keepdims", keepdims), root=name == "std")  # fmt: skip


_VAR_STATIC = ("ddof", "axes", "compute", "result", "keepdims", "root")


@fused(static=_VAR_STATIC, shared=True)
def _var(
    a: Any, where: Any, mean: Any, correction: Any, ddof: Any, axes: Any, compute: Any, result: Any,
    keepdims: bool, root: bool,
) -> Any:  # fmt: skip
    a = convert(a, compute)
    if mean is None:
        mean = _mean(a, where, axes=axes, compute=compute, result=compute, keepdims=True)
    centered = lax.sub_p.bind(a, broadcast(convert(mean, compute), a.shape))
    if where is not None:  # before operations with a derivative of NaN at NaN
        centered = select(where, centered, number(centered, 0))
    if compute.kind == "c":
        centered = lax.abs_p.bind(centered)
    squares = lax.square_p.bind(centered)
    total = strong(lax.reduce_sum_p.bind(squares, axes=axes) if axes else squares)
    out = _divided(total, a.shape, where, correction, ddof, axes)
    if root:
        out = lax.sqrt_p.bind(out)
    if result.kind == "c":
        result = out.dtype
    out = convert(out, result)
    return keep_dims(out, a.shape, axes) if keepdims else out


def _divided(total: Any, shape: Any, where: Any, correction: Any, ddof: Any, axes: Any) -> Any:
    """``total`` by the number of elements less ``ddof``; NaN where that is not positive."""
    if where is None and correction is None:
        left = prod([shape[i] for i in axes]) - ddof
        if left > 0:
            return lax.div_p.bind(total, number(total, left))
        return lax.full_like(total, np.nan)
    count: Any = number(total, prod([shape[i] for i in axes]))
    if where is not None:
        count = _count(where, axes, total.dtype)
    less = number(total, ddof) if correction is None else convert(correction, total.dtype)
    left = lax.sub(count, less)
    positive = lax.gt(left, number(total, 0))
    return select(positive, lax.div(total, left), number(total, float("nan")))


@one_call("axis", "returned", "keepdims")
def average(
    a: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, returned: bool = False,
    keepdims: bool = False,
) -> Any:  # fmt: skip
    """The average over ``axis``, weighted by ``weights``; with ``returned`` also their sum.

    Raises:
        ValueError: the weights have neither the shape of ``a`` nor that of its axes ``axis``.
    """
    if weights is None:
        a = as_array("average", a)
        out = mean(a, axis, keepdims=keepdims)
        size = a.size if axis is None else prod(
            a.shape[i] for i in reduced_axes("average", axis, a.ndim))  # fmt: skip
        return (out, lax.full_like(out, size)) if returned else out
    a, w = promote("average", a, weights, inexact=True)
    a, w = as_array("average", a), as_array("average", w, 2)
    if a.shape != w.shape:
        w = _spread_weights(a, w, axis)
    axes = reduced_axes("average", axis, a.ndim)
    out, total = _weighted(a, w, axes=axes, keepdims=flag("keepdims", keepdims))
    return (out, total) if returned else out


def _spread_weights(a: Any, w: Any, axis: Any) -> Any:
    if axis is None:
        raise ValueError(
            f"average: weights of shape {w.shape} do not match the array's "
            f"{a.shape}{here()}. Give axis."
        )
    given = static_axis(axis)
    axes = [
        axis_index("average", i, a.ndim) for i in (given if given.__class__ is tuple else (given,))
    ]
    if w.shape != tuple(a.shape[i] for i in axes):
        raise ValueError(
            f"average: weights of shape {w.shape} do not match axes {tuple(axes)} of an array of "
            f"shape {a.shape}{here()}"
        )
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    return lax.broadcast_in_dim(lax.transpose(w, order), a.shape, sorted(axes))


@fused(static=("axes", "keepdims"))
def _weighted(a: Any, w: Any, axes: Any, keepdims: bool) -> tuple[Any, Any]:
    total = strong(lax.reduce_sum_p.bind(w, axes=axes))
    out = lax.div(strong(lax.reduce_sum_p.bind(lax.mul(a, w), axes=axes)), total)
    if keepdims:
        return keep_dims(out, a.shape, axes), keep_dims(total, a.shape, axes)
    return out, total
