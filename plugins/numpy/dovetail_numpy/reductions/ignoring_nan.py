"""Reductions that leave NaN out."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import here, is_inexact

from ..creation.arrays import as_array
from ..fusion import fused, one_call
from ..operands import Array, ArrayLike, Axis, DTypeLike, flag, no_out
from ..operations import number, select
from . import basic, moments


def _exact(a: Any) -> bool:
    return not is_inexact(a.dtype)


def _isnan(a: Any) -> Any:
    return lax.ne_p.bind(a, a)


def _filled(a: Any, value: float) -> Any:
    return a if _exact(a) else _fill(a, value=value)


@fused(static=("value",))
def _fill(a: Any, value: float) -> Any:
    return select(_isnan(a), number(a, value), a)


@one_call("axis", "dtype", "out", "keepdims")
def nansum(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None,
    keepdims: bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """The sum over ``axis`` of elements that are not NaN."""
    a = _filled(as_array("nansum", a), 0)
    return basic.sum(a, axis, dtype, out, keepdims, initial, where)


@one_call("axis", "dtype", "out", "keepdims")
def nanprod(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None,
    keepdims: bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """The product over ``axis`` of elements that are not NaN."""
    a = _filled(as_array("nanprod", a), 1)
    return basic.prod(a, axis, dtype, out, keepdims, initial, where)


def _nan_extreme(
    kind: str, a: Any, axis: Any, out: Any, keepdims: bool, initial: Any, where: Any
) -> Array:
    name, reducer = f"nan{kind}", basic.max if kind == "max" else basic.min
    no_out(name, out)
    a = as_array(name, a)
    if _exact(a):
        return reducer(a, axis, None, keepdims, initial, where)
    value = -np.inf if kind == "max" else np.inf
    result = reducer(_filled(a, value), axis, None, keepdims, initial, where)
    if initial is not None:
        return result
    nothing = basic.all(_isnan(a), axis, keepdims=keepdims)
    return select(nothing, number(result, float("nan")), result)


@one_call("axis", "out", "keepdims")
def nanmax(
    a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False,
    initial: ArrayLike | None = None, where: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """The greatest element over ``axis`` that is not NaN; NaN where there is none."""
    return _nan_extreme("max", a, axis, out, keepdims, initial, where)


@one_call("axis", "out", "keepdims")
def nanmin(
    a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False,
    initial: ArrayLike | None = None, where: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """The least element over ``axis`` that is not NaN; NaN where there is none."""
    return _nan_extreme("min", a, axis, out, keepdims, initial, where)


def _nan_arg(kind: str, a: ArrayLike, axis: Any, out: Any, keepdims: Any) -> Array:
    name, finder = f"nanarg{kind}", basic.argmax if kind == "max" else basic.argmin
    no_out(name, out)
    a = as_array(name, a)
    if _exact(a):
        return finder(a, axis, None, keepdims)
    result = finder(_filled(a, -np.inf if kind == "max" else np.inf), axis, None, keepdims)
    nothing = basic.all(_isnan(a), axis, keepdims=flag("keepdims", keepdims))
    return select(nothing, number(result, -1), result)


@one_call("axis", "out", "keepdims")
def nanargmax(
    a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Array:
    """The index of the greatest element that is not NaN; -1 where there is none."""
    return _nan_arg("max", a, axis, out, keepdims)


@one_call("axis", "out", "keepdims")
def nanargmin(
    a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Array:
    """The index of the least element that is not NaN; -1 where there is none."""
    return _nan_arg("min", a, axis, out, keepdims)


def _valid_mask(a: Any, where: Any) -> Any:
    """The mask of elements that count: those that are not NaN and where ``where`` is true."""
    valid = lax.bitwise_not(_isnan(a))
    if where is None:
        return valid
    if as_array("where", where).dtype != np.bool_:
        raise ValueError(f"where must be a boolean array, got {where!r}{here()}")
    from ..ufuncs.comparisons import LOGICAL_AND

    return LOGICAL_AND(valid, where)


@one_call("axis", "dtype", "out", "keepdims")
def nanmean(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None,
    keepdims: bool = False, where: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """The mean over ``axis`` of elements that are not NaN; NaN where there are none."""
    no_out("nanmean", out)
    a = as_array("nanmean", a)
    if _exact(a):
        return moments.mean(a, axis, dtype, None, keepdims, where=where)
    return moments.mean(a, axis, dtype, None, keepdims, where=_valid_mask(a, where))


@one_call("axis", "dtype", "out", "ddof", "keepdims")
def nanvar(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None, ddof: Any = 0,
    keepdims: bool = False, where: ArrayLike | None = None, mean: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """The variance over ``axis`` of elements that are not NaN; NaN where there are too few."""
    no_out("nanvar", out)
    a = as_array("nanvar", a)
    where = where if _exact(a) else _valid_mask(a, where)
    return moments.var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean)


@one_call("axis", "dtype", "out", "ddof", "keepdims")
def nanstd(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None, ddof: Any = 0,
    keepdims: bool = False, where: ArrayLike | None = None, mean: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """The standard deviation over ``axis`` of elements that are not NaN."""
    no_out("nanstd", out)
    a = as_array("nanstd", a)
    where = where if _exact(a) else _valid_mask(a, where)
    return moments.std(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean)
