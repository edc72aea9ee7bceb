"""Transposition of contractions, convolutions and Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from dovetail_ad import is_linear, transpose_rules
from dovetail_core import cached, typeof

from ...primitives.arithmetic import div_p, mul_p
from ...primitives.contractions import (
    ConvDimensionNumbers,
    conv_general_dilated_p,
    dot_general_p,
    left_axes,
)
from ...primitives.discrete import eq_p, or_p
from ...primitives.fft import FftType, fft_p
from ...primitives.moves import reshaped, reversed_along, spread, transposed
from ...primitives.shape import transpose_p
from ...primitives.values import conj_p, convert_element_type_p, iota_p, select_n_p
from ...primitives.window_shapes import dilated
from ...scalars import scalar
from .arithmetic import refuse_linear

Axes = tuple[int, ...]


@transpose_rules.register(dot_general_p)
def _dot_general(
    ct: Any,
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: Any,
    preferred_element_type: Any,
) -> list[Any]:
    # The cotangent takes the side of the operand that it is for: the other stays on its side.
    left = is_linear(lhs)
    x, y = (lhs, rhs) if left else (rhs, lhs)
    if is_linear(y):
        refuse_linear("dot_general", 1)
    aval = x.aval
    dims, order = _plan(dimension_numbers, len(aval.shape), len(y.shape), left)
    own_type = preferred_element_type is None and ct.dtype == aval.dtype
    params = {
        "dimension_numbers": dims, "precision": precision,
        "preferred_element_type": None if own_type else aval.dtype,
    }  # fmt: skip
    operands = (ct, y) if left else (y, ct)
    out = dot_general_p.bind(*operands, **params)
    if order is not None:
        out = transpose_p.bind(out, permutation=order)
    return [out, None] if left else [None, out]


@cached
def _plan(numbers: Any, ndim: int, ndim_other: int, left: bool) -> tuple[Any, Axes | None]:
    """Dimension numbers of cotangent and other operand, and how to order the result's axes."""
    contract, batch = numbers
    mine, other = (0, 1) if left else (1, 0)
    kept = left_axes(ndim, contract[mine], batch[mine])
    kept_other = left_axes(ndim_other, contract[other], batch[other])
    n = len(batch[mine])
    # The cotangent's axes: batch, those kept of the left operand, those kept of the right one.
    first = n + len(kept) if left else n
    over = tuple(range(first, first + len(kept_other)))
    leading = tuple(range(n))
    # The other operand's contracted axes remain, in ascending order: paired with these axes here.
    paired = tuple([a for _, a in sorted(zip(contract[other], contract[mine]))])
    if left:
        dims = ((over, kept_other), (leading, batch[other]))
        positions = (*batch[mine], *kept, *paired)
    else:
        dims = ((kept_other, over), (batch[other], leading))
        positions = (*batch[mine], *paired, *kept)
    order = tuple(sorted(range(ndim), key=positions.__getitem__))
    return dims, None if order == tuple(range(ndim)) else order


@transpose_rules.register(conv_general_dilated_p)
def _conv(ct: Any, lhs: Any, rhs: Any, **params: Any) -> list[Any]:
    if is_linear(lhs):
        if is_linear(rhs):
            refuse_linear("conv_general_dilated", 1)
        ct, rhs = _same_type(ct, rhs)
        return [_typed(_operand(ct, lhs.aval.shape, rhs, **params), lhs.aval.dtype), None]
    lhs, ct = _same_type(lhs, ct)
    return [None, _typed(_kernel(ct, lhs, rhs.aval.shape, **params), rhs.aval.dtype)]


def _same_type(x: Any, y: Any) -> tuple[Any, Any]:
    """Both in the wider of their types, where a preferred type made the result's differ."""
    if x.dtype == y.dtype:
        return x, y
    wide = max(x.dtype, y.dtype, key=lambda d: d.itemsize)
    return _typed(x, wide), _typed(y, wide)


def _typed(x: Any, dtype: Any) -> Any:
    if x.dtype == dtype:
        return x
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=False)


def _operand(
    ct: Any,
    shape: tuple[int, ...],
    rhs: Any,
    *,
    window_strides: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    lhs_dilation: tuple[int, ...],
    rhs_dilation: tuple[int, ...],
    dimension_numbers: ConvDimensionNumbers,
    feature_group_count: int,
    batch_group_count: int,
    precision: Any,
    preferred_element_type: Any,
) -> Any:
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    groups = max(feature_group_count, batch_group_count)
    kernel = _by_group(reversed_along(rhs, rhs_spec[2:]), rhs_spec, groups)
    pads: list[tuple[int, int]] = []
    for i, axis in enumerate(lhs_spec[2:]):
        low = padding[i][0]
        span = (rhs.shape[rhs_spec[i + 2]] - 1) * rhs_dilation[i]
        spread = dilated(ct.shape[out_spec[i + 2]], window_strides[i])
        pads.append((span - low, dilated(shape[axis], lhs_dilation[i]) + low - spread))
    out = conv_general_dilated_p.bind(
        ct,
        kernel,
        window_strides=lhs_dilation,
        padding=tuple(pads),
        lhs_dilation=window_strides,
        rhs_dilation=rhs_dilation,
        dimension_numbers=ConvDimensionNumbers(
            out_spec, (rhs_spec[1], rhs_spec[0], *rhs_spec[2:]), lhs_spec
        ),
        feature_group_count=groups,
        batch_group_count=1,
        precision=precision,
        preferred_element_type=None,
    )
    return _regrouped(out, lhs_spec[1], lhs_spec[0], batch_group_count, shape)


def _by_group(rhs: Any, spec: tuple[int, ...], groups: int) -> Any:
    """The kernel with its groups of output features moved to the input features."""
    shape = list(rhs.shape)
    shape[spec[0]] //= groups
    shape[spec[1]] *= groups
    return _regrouped(rhs, spec[0], spec[1], groups, shape)


def _regrouped(x: Any, source: int, target: int, groups: int, shape: Sequence[int]) -> Any:
    """``x`` with the outer part of axis ``source``, of that many groups, moved to ``target``."""
    if groups == 1:
        return x
    split = [*x.shape[:source], groups, x.shape[source] // groups, *x.shape[source + 1 :]]
    order = [i for i in range(len(split)) if i != source]
    order.insert(order.index(target if target < source else target + 1), source)
    return reshaped(transposed(reshaped(x, split), order), shape)


def _kernel(
    ct: Any,
    lhs: Any,
    shape: tuple[int, ...],
    *,
    window_strides: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    lhs_dilation: tuple[int, ...],
    rhs_dilation: tuple[int, ...],
    dimension_numbers: ConvDimensionNumbers,
    feature_group_count: int,
    batch_group_count: int,
    precision: Any,
    preferred_element_type: Any,
) -> Any:
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    pads: list[tuple[int, int]] = []
    for i, axis in enumerate(rhs_spec[2:]):
        low = padding[i][0]
        reach = (shape[axis] - 1) * rhs_dilation[i]
        reach += dilated(ct.shape[out_spec[i + 2]], window_strides[i])
        pads.append((low, reach - low - dilated(lhs.shape[lhs_spec[i + 2]], lhs_dilation[i])))
    return conv_general_dilated_p.bind(
        lhs,
        ct,
        window_strides=rhs_dilation,
        padding=tuple(pads),
        lhs_dilation=lhs_dilation,
        rhs_dilation=window_strides,
        dimension_numbers=ConvDimensionNumbers(
            (lhs_spec[1], lhs_spec[0], *lhs_spec[2:]),
            (out_spec[1], out_spec[0], *out_spec[2:]),
            (rhs_spec[1], rhs_spec[0], *rhs_spec[2:]),
        ),
        feature_group_count=batch_group_count,
        batch_group_count=feature_group_count,
        precision=precision,
        preferred_element_type=None,
    )


@transpose_rules.register(fft_p)
def _fft(ct: Any, x: Any, *, fft_type: FftType, fft_lengths: tuple[int, ...]) -> list[Any]:
    if fft_type == FftType.RFFT:
        # x_n = Re sum_k ct_k w^(kn): the inverse transform of conj(ct) / counts, times the size.
        scaled = div_p.bind(conj_p.bind(ct), _counts(ct, fft_lengths))
        out = fft_p.bind(scaled, fft_type=FftType.IRFFT, fft_lengths=fft_lengths)
        return [mul_p.bind(out, scalar(float(prod(fft_lengths)), typeof(out).dtype))]  # type: ignore[attr-defined]
    if fft_type == FftType.IRFFT:
        half = fft_p.bind(ct, fft_type=FftType.RFFT, fft_lengths=fft_lengths)
        weights = _counts(half, fft_lengths)
        size = scalar(float(prod(fft_lengths)), typeof(half).dtype)  # type: ignore[attr-defined]
        return [conj_p.bind(div_p.bind(mul_p.bind(half, weights), size))]
    return [fft_p.bind(ct, fft_type=fft_type, fft_lengths=fft_lengths)]


def _counts(spectrum: Any, lengths: tuple[int, ...]) -> Any:
    """The number of times that each element of a half spectrum occurs in the full one."""
    shape: tuple[int, ...] = spectrum.shape
    last, n = len(shape) - 1, lengths[-1]
    position = iota_p.bind(dtype=np.dtype(np.int32), shape=shape[last:], dimension=0)
    alone = eq_p.bind(position, np.int32(0))
    if n % 2 == 0:
        alone = or_p.bind(alone, eq_p.bind(position, np.int32(n // 2)))
    dtype = spectrum.dtype
    return spread(select_n_p.bind(alone, scalar(2, dtype), scalar(1, dtype)), shape, (last,))
