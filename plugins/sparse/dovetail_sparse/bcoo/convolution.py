"""Convolutions of one-dimensional signals in BCOO format."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import here

from .array import BCOO
from .indices import in_bounds, masked, padded
from .relayout import bcoo_update_layout
from .stored import S, Stored


def convolved(lhs: S, rhs: S, dtype: Any, pads: tuple[int, int]) -> S:
    """The convolution of two arrays of shape ``(1, 1, n)``, in the sense of neural networks."""
    x, y = (bcoo_update_layout(m, n_batch=2, n_dense=0, on_inefficient=None) for m in (lhs, rhs))
    before, after = pads
    length = x.shape[2] + before + after - y.shape[2] + 1
    size = max(length, 0)
    position = x.full_parts()[1][0, 0] - dnp.transpose(y.full_parts()[1][0, 0]) + before
    inside = in_bounds(x.full_parts()[1][0, 0], x.sparse_shape)[:, None]
    inside &= in_bounds(y.full_parts()[1][0, 0], y.sparse_shape)[None]
    inside &= (position >= 0) & (position < size)
    product = x.full_parts()[0][0, 0][:, None] * y.full_parts()[0][0, 0][None]
    data = dnp.reshape(masked(inside, product), (1, 1, -1)).astype(dtype)
    indices = padded(inside, position[..., None], (size,))
    return x.like(data, dnp.reshape(indices, (1, 1, -1, 1)), (1, 1, size))


def check_convolution(
    lhs: Any, rhs: Any, window_strides: Any, padding: Any, lhs_dilation: Any, rhs_dilation: Any,
    dimension_numbers: Any, feature_group_count: int, batch_group_count: int,
) -> tuple[int, int]:  # fmt: skip
    """The padding of a convolution, which must be one of one-dimensional signals.

    Raises:
        NotImplementedError: it is another convolution.
    """
    plain = {
        "window_strides": (window_strides, (1,)),
        "lhs_dilation": (lhs_dilation or (1,), (1,)),
        "rhs_dilation": (rhs_dilation or (1,), (1,)),
        "feature_group_count": ((feature_group_count,), (1,)),
        "batch_group_count": ((batch_group_count,), (1,)),
    }
    for name, (given, wanted) in plain.items():
        if tuple(given) != wanted:
            raise NotImplementedError(f"bcoo convolution with {name}={given}{here()}")
    numbers = lax.conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    if tuple(numbers) != ((0, 1, 2),) * 3:
        raise NotImplementedError(
            f"bcoo convolution of other than one-dimensional signals (N, C, W){here()}, got shapes "
            f"{tuple(lhs.shape)} and {tuple(rhs.shape)} and dimension numbers {dimension_numbers}"
        )
    if tuple(lhs.shape[:2]) != (1, 1) or tuple(rhs.shape[:2]) != (1, 1):
        raise NotImplementedError(
            f"bcoo convolution with several batches or channels{here()}: shapes "
            f"{tuple(lhs.shape)} and {tuple(rhs.shape)}"
        )
    if isinstance(padding, str):
        pads = lax.padtype_to_pads((lhs.shape[2],), (rhs.shape[2],), (1,), padding)
    else:
        pads = padding
    ((before, after),) = pads
    return int(before), int(after)


def bcoo_conv_general_dilated(
    lhs: Any, rhs: Any, *, window_strides: Any, padding: Any, lhs_dilation: Any = None,
    rhs_dilation: Any = None, dimension_numbers: Any = None, feature_group_count: int = 1,
    batch_group_count: int = 1, precision: Any = None, preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> BCOO:  # fmt: skip
    """A convolution of signals of shape ``(1, 1, n)``, one of which is in BCOO format.

    Arguments are those of :func:`dovetail.lax.conv_general_dilated`; strides, dilations and groups
    are 1.

    Raises:
        NotImplementedError: it is another convolution.
    """
    pads = check_convolution(
        lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers,
        feature_group_count, batch_group_count,
    )  # fmt: skip
    x, y = (m if isinstance(m, Stored) else _stored(m) for m in (lhs, rhs))
    dtype = preferred_element_type or dnp.result_type(x.dtype, y.dtype)
    result: Any = convolved(x, y, dtype, pads)
    return result


def _stored(m: Any) -> BCOO:
    """All elements of a dense array, which may be traced."""
    return BCOO.fromdense(m, n_batch=2, nse=m.shape[2])
