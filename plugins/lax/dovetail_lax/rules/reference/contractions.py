"""Contractions, convolutions and Fourier transforms by NumPy."""

from __future__ import annotations

from math import prod
from string import ascii_letters
from typing import Any

import numpy as np

from dovetail_backends import reference_rules

from ...dtypes import kind_of, promote_types
from ...primitives.contractions import ConvDimensionNumbers, conv_general_dilated_p, dot_general_p
from ...primitives.fft import FftType, fft_p
from ...primitives.values import complex_of, real_part
from .kinds import Array, quiet, widened
from .reductions import computing
from .windows import windows_of, with_layout


def _dot_general(
    lhs: Array,
    rhs: Array,
    *,
    dimension_numbers: Any,
    precision: Any,
    preferred_element_type: Any,
) -> Array:
    (contract_l, contract_r), (batch_l, batch_r) = dimension_numbers
    left = list(ascii_letters[: lhs.ndim])
    right = list(ascii_letters[lhs.ndim : lhs.ndim + rhs.ndim])
    for i, j in zip((*contract_l, *batch_l), (*contract_r, *batch_r)):
        right[j] = left[i]
    used = {*contract_l, *batch_l}
    out = [left[i] for i in batch_l]
    out += [c for i, c in enumerate(left) if i not in used]
    out += [c for j, c in enumerate(right) if j not in {*contract_r, *batch_r}]
    spelled = f"{''.join(left)},{''.join(right)}->{''.join(out)}"
    dtype = promote_types(lhs.dtype, rhs.dtype)
    result = summed_products(spelled, lhs.astype(dtype), rhs.astype(dtype))
    return result.astype(preferred_element_type or dtype)


def summed_products(spelled: str, x: Array, y: Array) -> Array:
    """An ``einsum`` in a wide type; of booleans, whether any product is true."""
    if kind_of(x.dtype) == "bool":
        return _einsum(spelled, x.astype(int), y.astype(int)) > 0
    return _einsum(spelled, computing(x), computing(y))


def _einsum(spelled: str, x: Array, y: Array) -> Array:
    """By loops whose innermost goes along memory. Not by BLAS, whose threads wait for each other
    longer than they compute where the machine has other work. Each axis of one operand alone is
    one of the result."""
    operands, _, out = spelled.partition("->")
    left, _, right = operands.partition(",")
    batch = [c for c in left if c in right and c in out]
    summed = [c for c in left if c in right and c not in out]
    rows, columns = [c for c in left if c not in right], [c for c in right if c not in left]
    sizes = {**dict(zip(left, x.shape)), **dict(zip(right, y.shape))}

    def flattened(a: Array, axes: str, own: list[str]) -> Array:
        groups = (batch, own, summed)
        order = [axes.index(c) for group in groups for c in group]
        shape = [prod(sizes[c] for c in group) for group in groups]
        return np.ascontiguousarray(a.transpose(order)).reshape(shape)

    result = np.einsum("zik,zjk->zij", flattened(x, left, rows), flattened(y, right, columns))
    axes = [*batch, *rows, *columns]
    return result.reshape([sizes[c] for c in axes]).transpose([axes.index(c) for c in out])


reference_rules.set(dot_general_p, quiet(_dot_general))


def _conv(
    lhs: Array,
    rhs: Array,
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
) -> Array:
    x = lhs.transpose(dimension_numbers.lhs_spec)
    k = rhs.transpose(dimension_numbers.rhs_spec)
    n = x.ndim - 2
    x = with_layout(x, ((0, 0), (0, 0), *padding), (1, 1, *lhs_dilation), 0)
    window = windows_of(x, (1, 1, *k.shape[2:]), (1, 1, *window_strides), (1, 1, *rhs_dilation))
    # From (batch, features, *positions, 1, 1, *offsets) leave out the two ones.
    windows = window.reshape((*window.shape[: n + 2], *k.shape[2:]))
    positions, offsets = "defg"[:n], "hijk"[:n]
    spelled = f"bc{positions}{offsets},oc{offsets}->bo{positions}"
    parts: list[Array] = []
    for kernels, group in zip(
        np.split(k, feature_group_count * batch_group_count, 0),
        _groups(windows, feature_group_count, batch_group_count),
    ):
        parts.append(summed_products(spelled, group, kernels))
    out = np.concatenate(parts, axis=1).transpose(np.argsort(dimension_numbers.out_spec))
    return out.astype(preferred_element_type or lhs.dtype)


def _groups(windows: Array, by_feature: int, by_batch: int) -> list[Array]:
    if by_batch > 1:
        return np.split(windows, by_batch, 0)
    return np.split(windows, by_feature, 1)


reference_rules.set(conv_general_dilated_p, quiet(_conv))


@reference_rules.register(fft_p)
def _fft(x: Array, *, fft_type: FftType, fft_lengths: tuple[int, ...]) -> Array:
    axes = tuple(range(x.ndim - len(fft_lengths), x.ndim))
    real = fft_type == FftType.IRFFT
    dtype = real_part(x.dtype) if real else complex_of(x.dtype)
    if 0 in fft_lengths or x.size == 0:
        last = fft_lengths[-1] // 2 + 1 if fft_type == FftType.RFFT else fft_lengths[-1]
        last = last if fft_lengths[-1] else 0
        return np.zeros((*x.shape[: axes[0]], *fft_lengths[:-1], last), dtype)
    transform = {
        FftType.FFT: np.fft.fftn,
        FftType.IFFT: np.fft.ifftn,
        FftType.RFFT: np.fft.rfftn,
        FftType.IRFFT: np.fft.irfftn,
    }[fft_type]
    return transform(widened(x), fft_lengths, axes).astype(dtype)
