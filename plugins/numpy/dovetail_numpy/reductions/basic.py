"""Sums, products, extremes, tests over axes, and the indices of extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.wrapping import alias
from dovetail_core import Cache, ShapedArray, here

from ..creation.arrays import as_array
from ..fusion import fused, of_one_array, one_call
from ..operands import Array, ArrayLike, Axis, DTypeLike, axis_index, flag, names_of, no_out
from ..operations import strong, truth
from ..promotion import BOOL, convert, default_int, narrowed
from .engine import reduce, reduced_axes, refuse_keys, sum_types

_plain: Cache[tuple[ShapedArray, bool], bool] = Cache()


def _is_plain(aval: ShapedArray) -> bool:
    """True if sums of this type need no conversion of element types."""
    key = (aval, default_int().itemsize == 8)
    cached = _plain.get(key)
    if cached is None:
        cached = not aval.weak_type and sum_types(aval, None, True) == (aval.dtype, aval.dtype)
        _plain[key] = cached
    return cached


@of_one_array("axis", "dtype", "out", "keepdims", "promote_integers")
def sum(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None,
    keepdims: bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None,
    promote_integers: bool = True,
) -> Array:  # fmt: skip
    """The sum over ``axis`` (all axes by default).

    Axes may be positions, or names of axes of a map around the function
    (``vmap(..., axis_name=...)``), as for ``max``, ``min``, ``mean``, ``var``, ``std``,
    ``count_nonzero`` and ``ptp``.

    Booleans and small integers are summed in the default integer type unless ``promote_integers``
    is False; half-precision numbers are accumulated in single precision.

    Args:
        initial: added to the result.
        where: booleans; elements where they are False are left out.

    Raises:
        TypeError: ``a`` is not an array.
        ValueError: an axis is out of bounds.
    """
    no_out("sum", out)
    a = as_array("sum", a)
    if keepdims.__class__ is not bool:
        keepdims = flag("keepdims", keepdims)
    simple = (
        dtype is None and initial is None and where is None and not keepdims and not names_of(axis)
    )
    if simple and a.aval.__class__ is ShapedArray and _is_plain(a.aval):
        axes = reduced_axes("sum", axis, len(a.aval.shape))
        return lax.reduce_sum_p.bind(a, axes=axes) if axes else a
    compute, result = sum_types(a.aval, dtype, promote_integers)
    return reduce("sum", "sum", a, axis, keepdims, initial, where, compute, result)


@of_one_array("axis", "dtype", "out", "keepdims", "promote_integers")
def prod(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None,
    keepdims: bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None,
    promote_integers: bool = True,
) -> Array:  # fmt: skip
    """The product over ``axis`` (see :func:`sum` for the arguments)."""
    no_out("prod", out)
    a = as_array("prod", a)
    compute, result = sum_types(a.aval, dtype, promote_integers)
    return reduce("prod", "prod", a, axis, keepdims, initial, where, compute, result)


def _extreme(
    kind: str, a: ArrayLike, axis: Any, out: Any, keepdims: bool, initial: Any, where: Any
) -> Array:
    no_out(kind, out)
    a = as_array(kind, a)
    refuse_keys(kind, a.dtype)
    return reduce(kind, kind, a, axis, keepdims, initial, where, a.dtype, narrowed(a.dtype))


@of_one_array("axis", "out", "keepdims")
def max(
    a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False,
    initial: ArrayLike | None = None, where: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """The greatest element over ``axis``; NaN if one is NaN. Complex numbers order by real part.

    Raises:
        ValueError: there are no elements and no ``initial``, or ``where`` without ``initial``.
    """
    return _extreme("max", a, axis, out, keepdims, initial, where)


@of_one_array("axis", "out", "keepdims")
def min(
    a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False,
    initial: ArrayLike | None = None, where: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """The least element over ``axis`` (see :func:`max`)."""
    return _extreme("min", a, axis, out, keepdims, initial, where)


amax, amin = alias(max, "amax"), alias(min, "amin")


def _test(kind: str, a: ArrayLike, axis: Any, out: Any, keepdims: bool, where: Any) -> Array:
    no_out(kind, out)
    a = as_array(kind, a)
    if a.dtype.kind == "b" and where is None and not keepdims:
        prim = lax.reduce_and_p if kind == "all" else lax.reduce_or_p
        axes = reduced_axes(kind, axis, a.ndim)
        a = convert(a, BOOL)
        return prim.bind(a, axes=axes) if axes else a
    if where is None:
        axes = reduced_axes(kind, axis, a.ndim)
        if keepdims.__class__ is not bool:
            keepdims = flag("keepdims", keepdims)
        return _truth_test(a, kind=kind, axes=axes, keepdims=keepdims)
    return reduce(kind, kind, strong(truth(a)), axis, keepdims, None, where, BOOL, BOOL)


@fused(static=("kind", "axes", "keepdims"))
def _truth_test(a: Any, kind: str, axes: Any, keepdims: bool) -> Any:
    return reduce(kind, kind, strong(truth(a)), axes, keepdims, None, None, BOOL, BOOL)


@of_one_array("axis", "out", "keepdims")
def all(
    a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False, *,
    where: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """True where all elements over ``axis`` are not zero."""
    return _test("all", a, axis, out, keepdims, where)


@of_one_array("axis", "out", "keepdims")
def any(
    a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False, *,
    where: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """True where any element over ``axis`` is not zero."""
    return _test("any", a, axis, out, keepdims, where)


def _arg_extreme(kind: str, a: ArrayLike, axis: Any, out: Any, keepdims: Any) -> Array:
    name = "arg" + kind
    no_out(name, out)
    a = as_array(name, a)
    if axis is not None:
        axis = axis_index(name, axis, a.ndim)
    if (a.size if axis is None else a.shape[axis]) == 0:
        raise ValueError(
            f"{name} of an array of shape {a.shape}: there is no element to choose{here()}"
        )
    if keepdims.__class__ is not bool:
        keepdims = flag("keepdims", keepdims)
    return _arg(a, kind=kind, axis=axis, keepdims=keepdims, index=default_int())


@fused(static=("kind", "axis", "keepdims", "index"))
def _arg(a: Any, kind: str, axis: int | None, keepdims: bool, index: Any) -> Any:
    shape = a.shape
    if axis is None:
        a, at = lax.reshape(a, (a.size,)), 0
    else:
        at = axis
    a = convert(a, np.dtype(np.uint8)) if a.dtype.kind == "b" else a
    prim = lax.argmax_p if kind == "max" else lax.argmin_p
    result = strong(prim.bind(a, axes=(at,), index_dtype=index))
    if not keepdims:
        return result
    kept = (1,) * len(shape) if axis is None else (*shape[:at], 1, *shape[at + 1 :])
    return lax.reshape(result, kept)


@of_one_array("axis", "out", "keepdims")
def argmax(
    a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Array:
    """The index of the first greatest element along ``axis``, or in the flattened array.

    Raises:
        ValueError: there are no elements, or the axis is out of bounds.
    """
    return _arg_extreme("max", a, axis, out, keepdims)


@of_one_array("axis", "out", "keepdims")
def argmin(
    a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Array:
    """The index of the first least element (see :func:`argmax`)."""
    return _arg_extreme("min", a, axis, out, keepdims)


@one_call("axis", "out", "keepdims")
def ptp(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False) -> Array:
    """The greatest element less the least one, over ``axis``."""
    no_out("ptp", out)
    a = as_array("ptp", a)
    return lax.sub(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims))


@of_one_array("axis", "keepdims")
def count_nonzero(a: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Array:
    """The number of elements over ``axis`` that are not zero."""
    a = as_array("count_nonzero", a)
    if names_of(axis):
        dtype = default_int()
        return reduce("count_nonzero", "sum", truth(a), axis, keepdims, None, None, dtype, dtype)
    axes = reduced_axes("count_nonzero", axis, a.ndim)
    return _count(a, axes=axes, keepdims=flag("keepdims", keepdims), dtype=default_int())


@fused(static=("axes", "keepdims", "dtype"))
def _count(a: Any, axes: Any, keepdims: bool, dtype: Any) -> Any:
    return reduce("count_nonzero", "sum", truth(a), axes, keepdims, None, None, dtype, dtype)
