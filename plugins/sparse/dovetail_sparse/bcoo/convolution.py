"""``bcoo_conv_general_dilated``."""

from __future__ import annotations

from typing import Any

import dovetail_numpy as dnp

from .array import BCOO
from .conv import check_convolution, convolved
from .stored import Stored


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
    """Every element of a dense array, so that it may be traced."""
    return BCOO.fromdense(m, n_batch=2, nse=m.shape[2])
