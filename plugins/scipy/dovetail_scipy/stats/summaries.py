"""Ranks, the mode and the standard error of the mean."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.source import short_repr
from dovetail_core import canonical_dtype, here
from dovetail_jit import fused, one_call

from ..arguments import Array, ArrayLike, array, inexact

METHODS = ("average", "min", "max", "dense", "ordinal")


class ModeResult(NamedTuple):
    """The results of ``mode``: the values, and their counts."""

    mode: Array
    count: Array


def _check_policy(name: str, policy: Any, policies: tuple[str, ...] = ("propagate",)) -> None:
    if policy in policies:
        return
    if policy in ("omit", "raise"):
        raise NotImplementedError(
            f"{name}: nan_policy={policy!r} is not supported: a compiled program knows no values"
            f"{here()}. Use {' or '.join(map(repr, policies))}, and look for nan yourself."
        )
    raise ValueError(f"{name}: there is no nan_policy {short_repr(policy)}{here()}")


def _flat(x: Any, axis: int | None) -> tuple[Any, int]:
    """An array and the axis along which to go: its only one, for None."""
    return (lax.reshape(x, (prod(x.shape),)), 0) if axis is None else (x, axis)


@one_call("method", "axis", "nan_policy")
def rankdata(
    a: ArrayLike, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate"
) -> Array:
    """The ranks of values, beginning with 1.

    Args:
        method: of equal values all have the ``"average"``, ``"min"`` or ``"max"`` of their ranks;
            or ``"dense"``, the next rank after that of the values before; or ``"ordinal"``, ranks
            in order of their indices.
        axis: along which values are compared; None for all of the flattened array.
        nan_policy: must be ``"propagate"``: all ranks are nan where a value is.

    Raises:
        ValueError: there is no such method or policy, or the axis is out of bounds.
        NotImplementedError: another policy.
    """
    _check_policy("rankdata", nan_policy)
    if method not in METHODS:
        raise ValueError(
            f"rankdata: method must be one of {', '.join(map(repr, METHODS))}, got "
            f"{short_repr(method)}{here()}"
        )
    x, axis = _flat(array("rankdata", a), axis)
    return dnp.moveaxis(_rankdata(dnp.moveaxis(x, axis, -1), method=method), -1, axis)


def _runs(x: Any) -> tuple[Any, Any, Any]:
    """A mask of sorted values that differ from the one before, and for each value the indices of
    the first and the last one that are equal to it."""
    new = dnp.concatenate([dnp.ones_like(x[..., :1], bool), x[..., 1:] != x[..., :-1]], -1)
    index = dnp.broadcast_to(np.arange(x.shape[-1], dtype=np.int32), x.shape)
    first = lax.cummax(dnp.where(new, index, 0), x.ndim - 1)
    ends = dnp.concatenate([new[..., 1:], dnp.ones_like(new[..., :1])], -1)
    last = lax.cummin(dnp.where(ends, index, x.shape[-1]), x.ndim - 1, reverse=True)
    return new, first, last


@fused(static=("method",))
def _rankdata(x: Any, *, method: str) -> Any:
    dtype = canonical_dtype(np.float64)
    if not x.size:
        return x.astype(dtype)
    order = dnp.argsort(x, -1)
    new, first, last = _runs(dnp.take_along_axis(x, order, -1))
    ranks = {
        "average": lambda: 0.5 * (first + last).astype(dtype) + 1,
        "min": lambda: first + 1,
        "max": lambda: last + 1,
        "dense": lambda: dnp.cumsum(new.astype(np.int32), -1),
        "ordinal": lambda: dnp.broadcast_to(np.arange(1, x.shape[-1] + 1), x.shape),
    }[method]()
    out = dnp.put_along_axis(
        dnp.zeros(x.shape, dtype), order, ranks.astype(dtype), -1, inplace=False,
        mode="promise_in_bounds",
    )  # fmt: skip
    return dnp.where(dnp.any(dnp.isnan(x), -1, keepdims=True), dnp.nan, out)


@one_call("axis", "nan_policy", "keepdims")
def mode(
    a: ArrayLike, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False
) -> ModeResult:
    """The most frequent value along an axis (the smallest of several), and its count.

    Args:
        axis: None for all values of the array.
        nan_policy: must be ``"propagate"``: each nan counts as a distinct value.

    Raises:
        ValueError: there is no such policy, or the axis is out of bounds.
        NotImplementedError: another policy.
    """
    _check_policy("mode", nan_policy)
    x = dnp.atleast_1d(array("mode", a)) if axis is not None else array("mode", a)
    ndim = x.ndim
    x, along = _flat(x, axis)
    x = dnp.moveaxis(x, along, -1)
    if not x.shape[-1]:
        nothing = dnp.full(x.shape[:-1], dnp.nan, inexact("mode", x)[0].dtype)
        result = ModeResult(nothing, 0 * dnp.zeros_like(nothing))
    else:
        result = ModeResult(*_mode(x))
    if not keepdims:
        return result
    if axis is None:
        return ModeResult(*(dnp.reshape(v, (1,) * ndim) for v in result))
    return ModeResult(*(dnp.expand_dims(v, along) for v in result))


@fused()
def _mode(x: Any) -> tuple[Any, Any]:
    x = dnp.sort(x, -1)
    _, first, last = _runs(x)
    counts = (last - first + 1).astype(int)
    best = dnp.argmax(counts, -1)[..., None]
    return tuple(dnp.take_along_axis(v, best, -1)[..., 0] for v in (x, counts))


@one_call("axis", "ddof", "nan_policy", "keepdims")
def sem(
    a: ArrayLike, axis: int | None = 0, ddof: int = 1, nan_policy: str = "propagate", *,
    keepdims: bool = False,
) -> Array:  # fmt: skip
    """The standard error of the mean: the standard deviation over the root of the number of values.

    Args:
        axis: None for all values of the array.
        ddof: subtracted from the number of values in the standard deviation.
        nan_policy: ``"propagate"``, or ``"omit"`` to leave out nan.

    Raises:
        ValueError: there is no such policy, or the axis is out of bounds.
        NotImplementedError: another policy.
    """
    _check_policy("sem", nan_policy, ("propagate", "omit"))
    (x,) = inexact("sem", a)
    if nan_policy == "omit":
        deviation = dnp.nanstd(x, axis, ddof=ddof, keepdims=keepdims)
        count = dnp.sum(~dnp.isnan(x), axis, keepdims=keepdims)
    else:
        deviation = dnp.std(x, axis, ddof=ddof, keepdims=keepdims)
        count = dnp.asarray(x.size if axis is None else x.shape[axis])
    return deviation / dnp.sqrt(count.astype(deviation.dtype))
