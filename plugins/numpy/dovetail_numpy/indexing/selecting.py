"""Selecting elements where a mask is true: place, compress, extract."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.foreign import reword_errors
from dovetail_core import here

from ..creation.arrays import as_array
from ..fusion import fused
from ..operands import Array, ArrayLike, axis_index, no_out
from ..operations import reshape as to_shape, select, truth
from ..promotion import INT32, convert
from ..searching.finding import nonzero
from .reading import Options
from .taking import not_in_place, take_along


@reword_errors
def place(arr: ArrayLike, mask: ArrayLike, vals: ArrayLike, *, inplace: bool = True) -> Array:
    """``arr`` with the elements where ``mask`` is true replaced by ``vals`` (repeated) in order.

    Raises:
        ValueError: ``inplace`` is not False, or there are no values to write.
    """
    not_in_place("place", inplace)
    a, m, v = as_array("place", arr), as_array("place", mask, 1), as_array("place", vals, 2)
    if m.size != a.size:
        raise ValueError(f"place: the mask has {m.size} elements, the array {a.size}")
    if not v.size:
        raise ValueError("place: there are no values to write")
    return _fill_where(a, to_shape(m, (m.size,)), to_shape(convert(v, a.dtype), (v.size,)))


@fused()
def _fill_where(a: Any, m: Any, v: Any) -> Any:
    m = truth(m)
    rank = lax.sub(lax.cumsum(lax.convert_element_type(m, INT32), axis=0), np.int32(1))
    chosen = take_along(v, lax.rem(lax.max(rank, np.int32(0)), np.int32(v.size)), 0)
    flat = to_shape(a, (a.size,))
    return to_shape(select(m, chosen, flat), a.shape)


@reword_errors
def compress(
    condition: ArrayLike, a: ArrayLike, axis: int | None = None, *, size: int | None = None,
    fill_value: ArrayLike = 0, out: None = None,
) -> Array:  # fmt: skip
    """Slices of ``a`` along ``axis`` (or elements) where ``condition`` is true.

    Args:
        size: the number of slices in the result, filled up with ``fill_value``; needed while
            tracing.

    Raises:
        ValueError: ``condition`` has not one dimension, or is true beyond the axis.
    """
    no_out("compress", out)
    a = as_array("compress", a, 1)
    if axis is None:
        a, axis = to_shape(a, (a.size,)), 0
    axis = axis_index("compress", axis, a.ndim)
    cond = as_array("compress", condition)
    if cond.ndim != 1:
        raise ValueError(
            f"compress: condition must have one dimension, got shape {cond.shape}{here()}"
        )
    length = a.shape[axis]
    if cond.shape[0] > length and bool(lax.slice_in_dim(cond, length, None).any()):
        raise ValueError(
            f"compress: condition, of length {cond.shape[0]}, is true beyond the {length} elements "
            f"of axis {axis}{here()}"
        )
    cond = lax.slice_in_dim(cond, 0, min(length, cond.shape[0]))
    (result,) = nonzero(cond, size=size, fill_value=a.shape[axis])
    return take_along(a, result, axis, Options("fill", fill_value, wrap=False))


@reword_errors
def extract(
    condition: ArrayLike, arr: ArrayLike, *, size: int | None = None, fill_value: ArrayLike = 0
) -> Array:
    """Elements of ``arr`` where ``condition`` is true, as a vector (see :func:`compress`)."""
    cond = as_array("extract", condition)
    return compress(to_shape(cond, (cond.size,)), arr, size=size, fill_value=fill_value)
