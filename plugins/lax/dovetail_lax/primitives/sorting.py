"""Primitives that order elements: sorting several arrays by some of them, and the largest few."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import Primitive, ShapedArray, here

from ..errors import ElementTypeError, OutOfBounds, ShapeError
from ..monoids import is_floating
from .elementwise import ANY, reject
from .moves import along
from .traits import describe
from .values import iota_p

sort_p = Primitive("sort", multiple_results=True)
"""Sorts arrays together along ``dimension`` by the first ``num_keys`` of them.

NaN comes last with either sign, zeros are equal, complex numbers are ordered by real part and
then by imaginary part, and equal keys keep their order if ``is_stable``.
"""


@sort_p.def_abstract_eval
def _sort_type(
    *avals: ShapedArray, dimension: int, is_stable: bool, num_keys: int
) -> list[ShapedArray]:
    shape = avals[0].shape
    if any(a.shape != shape for a in avals):
        raise TypeError(
            f"lax.sort takes operands of one shape, got "
            f"{', '.join(a.str_short() for a in avals)}{here()}. Broadcast them first."
        )
    if not 0 <= dimension < len(shape):
        raise OutOfBounds(
            f"lax.sort got dimension {dimension} for operands of shape {shape}{here()}."
        )
    if not 1 <= num_keys <= len(avals):
        raise ShapeError(
            f"lax.sort got num_keys={num_keys} for {len(avals)} operands{here()}: at least one "
            "and at most all of them are keys."
        )
    for compared in avals[:num_keys]:
        if compared.is_high:
            reject("sort", compared, ANY)
    return list(avals)


top_k_p = Primitive("top_k", multiple_results=True)
"""The ``k`` largest elements along ``axis`` in descending order, and where they are (int32).

Of equal elements the first comes first; NaN is larger than all numbers.
"""


_MOST = 2**31 - 1
"""The largest dimension of which all positions are of type int32."""


@top_k_p.def_abstract_eval
def _top_k_type(x: ShapedArray, *, k: int, axis: int) -> list[ShapedArray]:
    if x.dtype.kind == "c":
        raise ElementTypeError(
            f"lax.top_k does not accept {x.str_short()}{here()}: complex numbers have no order. "
            "Apply it to their real parts or magnitudes."
        )
    if not x.shape or not 0 <= axis < len(x.shape):
        raise OutOfBounds(f"lax.top_k got axis {axis} for an operand {x.str_short()}{here()}.")
    if not 0 <= k <= x.shape[axis]:
        raise ShapeError(
            f"lax.top_k got k={k} for {x.str_short()}{here()}, which has {x.shape[axis]} "
            f"elements along axis {axis}: k must be at least 0 and at most that."
        )
    if x.shape[axis] > _MOST:
        raise ShapeError(
            f"lax.top_k got {x.str_short()}{here()}: positions along axis {axis} of more than "
            f"{_MOST} elements are no int32. Take the largest of parts of it, and then of these."
        )
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    return [ShapedArray(shape, x.dtype, x.weak_type), ShapedArray(shape, np.int32)]


approx_top_k_p = Primitive("approx_top_k", multiple_results=True)
"""The ``k`` largest or smallest elements, where the platform has a fast inexact way: nearly so."""


@approx_top_k_p.def_abstract_eval
def _approx_top_k_type(
    x: ShapedArray,
    *,
    k: int,
    reduction_dimension: int,
    recall_target: float,
    is_max_k: bool,
    reduction_input_size_override: int,
    aggregate_to_topk: bool,
) -> list[ShapedArray]:
    name = "approx_max_k" if is_max_k else "approx_min_k"
    if not is_floating(x.dtype):
        raise ElementTypeError(
            f"lax.{name} does not accept {x.str_short()}{here()}: it takes floating-point "
            "numbers. Convert the operand first (convert_element_type), or use lax.top_k."
        )
    if not 0 <= reduction_dimension < len(x.shape):
        raise OutOfBounds(
            f"lax.{name} got reduction_dimension {reduction_dimension} for an operand "
            f"{x.str_short()}{here()}."
        )
    size = x.shape[reduction_dimension]
    if not 0 <= k <= size:
        raise ShapeError(
            f"lax.{name} got k={k} for {x.str_short()}{here()}, which has {size} elements along "
            f"axis {reduction_dimension}: k must be at least 0 and at most that."
        )
    axis = reduction_dimension
    shape = (*x.shape[:axis], k if aggregate_to_topk else size, *x.shape[axis + 1 :])
    return [ShapedArray(shape, x.dtype, x.weak_type), ShapedArray(shape, np.int32)]


@approx_top_k_p.def_decomposition
def _exactly(
    x: Any, *, k: int, reduction_dimension: int, is_max_k: bool, aggregate_to_topk: bool,
    **params: Any,
) -> list[Any]:  # fmt: skip
    # An exact answer is an approximate one. Without aggregation all elements are candidates.
    axis = reduction_dimension
    count = k if aggregate_to_topk else x.shape[axis]
    if is_max_k:
        return top_k_p.bind(x, k=count, axis=axis)
    positions = iota_p.bind(dtype=np.dtype(np.int32), shape=x.shape, dimension=axis)
    ordered = sort_p.bind(x, positions, dimension=axis, is_stable=True, num_keys=1)
    return [along(y, axis, 0, count) for y in ordered]


describe(__name__)
