"""Matrix products of blocks with scales."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import here
from dovetail_jit import fused
from dovetail_lax import dtypes

from ..arguments import array
from .attention import Array, ArrayLike


def scaled_matmul(
    lhs: ArrayLike,
    rhs: ArrayLike,
    lhs_scales: ArrayLike,
    rhs_scales: ArrayLike,
    preferred_element_type: Any = np.float32,
) -> Array:
    """The product of two matrices whose rows are stored in blocks, each with a scale.

    Args:
        lhs: an array of shape ``(B, M, K)``.
        rhs: an array of shape ``(B, N, K)``.
        lhs_scales: of shape ``(B, M, K / block)``; the factors of blocks of rows of ``lhs``.
        rhs_scales: of shape ``(B, N, K / block)``.
        preferred_element_type: the dtype of the result, in which is computed.

    Returns:
        ``lhs`` times the transpose of ``rhs``, of shape ``(B, M, N)``.

    Raises:
        ValueError: shapes do not fit.
    """
    operands = [array("scaled_matmul", x) for x in (lhs, rhs, lhs_scales, rhs_scales)]
    _check_blocks(*(tuple(x.shape) for x in operands))
    return _scaled_matmul(*operands, dtype=dtypes.as_dtype(preferred_element_type))


def _check_blocks(lhs: Any, rhs: Any, lhs_scales: Any, rhs_scales: Any) -> None:
    shapes = (lhs, rhs, lhs_scales, rhs_scales)
    fits = all(len(s) == 3 for s in shapes) and lhs[0] == rhs[0] and lhs[2] == rhs[2]
    fits = fits and lhs_scales[:2] == lhs[:2] and rhs_scales[:2] == rhs[:2]
    fits = fits and lhs_scales[2] == rhs_scales[2] > 0
    if not fits or lhs[2] % lhs_scales[2]:
        raise ValueError(
            "scaled_matmul takes lhs (B, M, K), rhs (B, N, K), lhs_scales (B, M, K / block) and "
            f"rhs_scales (B, N, K / block), got shapes {', '.join(map(str, shapes))}{here()}"
        )


@fused(static=("dtype",))
def _scaled_matmul(lhs: Any, rhs: Any, lhs_scales: Any, rhs_scales: Any, *, dtype: Any) -> Any:
    def scaled(x: Any, scales: Any) -> Any:
        b, rows, size = x.shape
        blocks = scales.shape[2]
        parts = lax.reshape(lax.convert_element_type(x, dtype), (b, rows, blocks, size // blocks))
        factors = lax.broadcast_in_dim(
            lax.convert_element_type(scales, dtype), parts.shape, (0, 1, 2)
        )
        return lax.reshape(lax.mul(parts, factors), x.shape)

    return lax.dot_general(
        scaled(lhs, lhs_scales), scaled(rhs, rhs_scales), (((2,), (2,)), ((0,), (0,)))
    )
