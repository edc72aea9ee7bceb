"""Products of matrices that are quantized block by block, forwards and backwards.

Formats: *OCP Microscaling Formats (MX) Specification* v1.0 (``mxfp8``: 32 elements of
``float8_e4m3fn`` share a power of two), and NVIDIA's NVFP4 (``nvfp4``: 16 elements of
``float4_e2m1fn`` share a ``float8_e4m3fn``, and all blocks a ``float32``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import ml_dtypes
import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import here
from dovetail_custom_rules import custom_vjp
from dovetail_jit import fused
from dovetail_lax import dtypes

from ..arguments import array

Array = Any
ArrayLike = Any


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
        preferred_element_type: the dtype of the computation and of the result.

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


@dataclass(frozen=True, eq=False)
class BlockScaleConfig:
    """The quantization of an operand.

    Attributes:
        block_size: the number of elements along the contracted axis that share a scale.
        data_type, scale_type: of elements and scales.
        global_scale: a factor of all scales; None for 1.
        infer_only: whether the backward pass multiplies operands without quantizing them.
    """

    mode: str
    block_size: int
    data_type: Any
    scale_type: Any
    global_scale: Any = None
    infer_only: bool = False


_FORMATS = {
    "mxfp8": (32, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu),
    "nvfp4": (16, ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn),
}


def get_scaled_dot_general_config(
    mode: Literal["nvfp4", "mxfp8"], global_scale: Array | None = None
) -> BlockScaleConfig:
    """The quantization of an operand of :func:`scaled_dot_general`.

    Args:
        mode: the format.
        global_scale: a float32 array of one element, for ``nvfp4``; 1 by default.

    Raises:
        ValueError: there is no such format, or ``mxfp8`` gets a global scale.
    """
    if mode not in _FORMATS:
        names = ", ".join(map(repr, _FORMATS))
        raise ValueError(f"there is no block-scaled format {mode!r}{here()}; known are {names}")
    if mode == "mxfp8" and global_scale is not None:
        raise ValueError(f"mxfp8 has no global scale{here()}: leave it out, or take nvfp4")
    if mode == "nvfp4" and global_scale is None:
        global_scale = dnp.ones((1,), np.float32)
    return BlockScaleConfig(mode, *_FORMATS[mode], global_scale)


def scaled_dot_general(
    lhs: Any,
    rhs: Any,
    dimension_numbers: Any,
    preferred_element_type: Any = np.float32,
    configs: Sequence[BlockScaleConfig] | None = None,
    implementation: Literal["cudnn"] | None = None,
) -> Array:
    """``lax.dot_general`` of operands that are quantized block by block.

    Derivatives are products of quantized arrays, too: the cotangent, and the other operand, along
    the axes that the derivative contracts.

    Args:
        lhs, rhs: arrays; they are quantized by this function.
        dimension_numbers: as of ``lax.dot_general``.
        preferred_element_type: the dtype of the result.
        configs: the quantization of ``lhs``, ``rhs`` and cotangents, each made by
            :func:`get_scaled_dot_general_config`; None for no quantization.
        implementation: ignored.

    Raises:
        ValueError: there are not three configs. TypeError: axes do not fit the operands.
    """
    a, b = array("scaled_dot_general", lhs), array("scaled_dot_general", rhs)
    dtype = dtypes.as_dtype(preferred_element_type)
    if configs is None:
        return lax.dot_general(a, b, dimension_numbers, preferred_element_type=dtype)
    if len(configs) != 3:
        raise ValueError(
            f"scaled_dot_general takes three configs, for lhs, rhs and cotangents, got "
            f"{len(configs)}{here()}"
        )
    (contract_l, contract_r), (batch_l, batch_r) = dimension_numbers
    x, batch, rows = _as_matrices(a, contract_l, batch_l)
    y, _, columns = _as_matrices(b, contract_r, batch_r)
    result = _products(x, y, tuple(configs), dtype)
    return dnp.reshape(result, (*batch, *rows, *columns))


def _as_matrices(x: Any, contracted: Any, batch: Any) -> tuple[Any, Any, Any]:
    """An operand as ``(batch, own, summed)``, and the sizes of its batch axes and own axes."""
    own = [i for i in range(x.ndim) if i not in contracted and i not in batch]
    sizes = [[x.shape[i] for i in axes] for axes in (batch, own, contracted)]
    moved = dnp.transpose(x, (*batch, *own, *contracted))
    return dnp.reshape(moved, tuple(prod(s) for s in sizes)), sizes[0], sizes[1]


def _products(x: Any, y: Any, configs: tuple[BlockScaleConfig, ...], dtype: Any) -> Any:
    left, right, cotangent = configs

    @custom_vjp
    def products(x: Any, y: Any) -> Any:
        return _quantized_product(x, y, left, right, dtype)

    def forward(x: Any, y: Any) -> Any:
        return products(x, y), (x, y)

    def backward(saved: Any, ct: Any) -> Any:
        x, y = saved
        swapped = [dnp.swapaxes(v, 1, 2) for v in (x, y, ct)]
        if cotangent.infer_only:
            back = dnp.matmul(ct, y), dnp.matmul(swapped[2], x)
        else:
            back = (
                _quantized_product(ct, swapped[1], cotangent, right, dtype),
                _quantized_product(swapped[2], swapped[0], cotangent, left, dtype),
            )
        return tuple(dnp.astype(v, z.dtype) for v, z in zip(back, (x, y)))

    products.defvjp(forward, backward)
    return products(x, y)


def _quantized_product(
    x: Any, y: Any, left: BlockScaleConfig, right: BlockScaleConfig, dtype: Any
) -> Any:
    """``x`` times the transpose of ``y``, both quantized along their last axes."""
    a, a_scales, a_factor = _quantized(x, left)
    b, b_scales, b_factor = _quantized(y, right)
    result = scaled_matmul(a, b, a_scales, b_scales, np.float32)
    return dnp.astype(result * (a_factor * b_factor), dtype)


def _quantized(x: Any, config: BlockScaleConfig) -> tuple[Any, Any, Any]:
    """Quantized elements, scales of blocks along the last axis, and a factor of all scales."""
    size = config.block_size
    rest = -x.shape[-1] % size
    wide = dnp.pad(dnp.astype(x, np.float32), ((0, 0), (0, 0), (0, rest)))
    blocks = dnp.reshape(wide, (*wide.shape[:2], wide.shape[2] // size, size))
    largest = float(ml_dtypes.finfo(config.data_type).max)
    need = dnp.max(dnp.abs(blocks), axis=-1) / largest
    factor: Any = np.float32(1)
    if config.mode == "mxfp8":  # the next power of two: no element is beyond the largest
        exponent = dnp.ceil(dnp.log2(dnp.where(need > 0, need, 1)))
        scale = dnp.exp2(dnp.clip(exponent, -127, 127))
    else:
        factor = dnp.reshape(dnp.asarray(config.global_scale), ())
        top = float(ml_dtypes.finfo(config.scale_type).max)
        low = float(ml_dtypes.finfo(config.scale_type).smallest_subnormal)
        scale = dnp.clip(dnp.where(need > 0, need / factor, 1), low, top)
    scales = dnp.astype(scale, config.scale_type)
    true_scale = dnp.astype(scales, np.float32) * factor
    units = dnp.clip(blocks / true_scale[..., None], -largest, largest)
    return dnp.astype(dnp.reshape(units, wide.shape), config.data_type), scales, factor
