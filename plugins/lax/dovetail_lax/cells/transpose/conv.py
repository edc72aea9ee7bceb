"""Transposes of convolutions, which are convolutions.

With x the operand (batch n, features c), k the kernel, y the result (features o), strides s, low
pads l and dilations d of x and e of k, along one axis

    y[n, o, i] = sum over c, w of x[n, c, j] k[o, c, w],   l + d j = s i + e w.

So the cotangent of x sums those of y at s i = l + d j - e w: y is dilated by s, the window moves
by d and is reversed; that of k sums at e w = s i - (l - d j): x is convolved with y as a kernel
dilated by s, and the window moves by e. Groups of features of one become groups of the batch of the
other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import is_linear, transpose_rules

from ...primitives.conv import ConvDimensionNumbers, conv_general_dilated_p
from ...primitives.conversion import convert_element_type_p
from ...primitives.moves import reshaped, reversed_along, transposed
from ...primitives.window_shapes import dilated
from .kinds import known


@transpose_rules.register(conv_general_dilated_p)
def _conv(ct: Any, lhs: Any, rhs: Any, **params: Any) -> list[Any]:
    if is_linear(lhs):
        known("conv_general_dilated", 1, rhs)
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
