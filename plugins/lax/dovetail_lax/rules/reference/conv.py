"""Convolutions with NumPy: windows of the padded, dilated operand, contracted with the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import reference_rules

from ...primitives.conv import ConvDimensionNumbers, conv_general_dilated_p
from .dot import summed_products
from .kinds import Array, quiet
from .windows import laid_out, windows_of


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
    x = laid_out(x, ((0, 0), (0, 0), *padding), (1, 1, *lhs_dilation), 0)
    window = windows_of(x, (1, 1, *k.shape[2:]), (1, 1, *window_strides), (1, 1, *rhs_dilation))
    # From (batch, features, *places, 1, 1, *offsets) leave out the two ones.
    windows = window.reshape((*window.shape[: n + 2], *k.shape[2:]))
    places, offsets = "defg"[:n], "hijk"[:n]
    spelled = f"bc{places}{offsets},oc{offsets}->bo{places}"
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
