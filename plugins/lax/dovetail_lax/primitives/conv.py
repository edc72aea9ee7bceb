"""The row of convolutions: strided, padded, dilated on both sides, grouped by feature or batch."""

from __future__ import annotations

from typing import Any, NamedTuple

from dovetail_core import Primitive, ShapedArray

from ._elementwise import place
from .dot import check_preferred
from .window_shapes import check_lengths, check_positive, window_counts

Axes = tuple[int, ...]


class ConvDimensionNumbers(NamedTuple):
    """Which axis of each array is which.

    ``lhs_spec`` and ``out_spec`` are ``(batch, feature, *spatial)``, ``rhs_spec`` is ``(output
    feature, input feature, *spatial)``.
    """

    lhs_spec: Axes
    rhs_spec: Axes
    out_spec: Axes


conv_general_dilated_p = Primitive("conv_general_dilated")


@conv_general_dilated_p.def_abstract_eval
def _conv_type(
    lhs: ShapedArray,
    rhs: ShapedArray,
    *,
    window_strides: Axes,
    padding: tuple[tuple[int, int], ...],
    lhs_dilation: Axes,
    rhs_dilation: Axes,
    dimension_numbers: ConvDimensionNumbers,
    feature_group_count: int,
    batch_group_count: int,
    precision: Any,
    preferred_element_type: Any,
) -> ShapedArray:
    n = len(lhs.shape) - 2
    if len(rhs.shape) != n + 2 or n < 0:
        raise TypeError(
            f"{_about(lhs, rhs)}: both must have two axes for batch and features, and the same "
            "number of spatial axes."
        )
    if lhs.dtype != rhs.dtype:
        raise TypeError(
            f"{_about(lhs, rhs)}: both must have one dtype. Convert one of them "
            "(convert_element_type)."
        )
    check_lengths(
        "conv_general_dilated", n, window_strides=window_strides, padding=padding,
        lhs_dilation=lhs_dilation, rhs_dilation=rhs_dilation,
    )  # fmt: skip
    check_positive(
        "conv_general_dilated", window_strides=window_strides, lhs_dilation=lhs_dilation,
        rhs_dilation=rhs_dilation,
    )  # fmt: skip
    batch, features, *sizes = [lhs.shape[i] for i in dimension_numbers.lhs_spec]
    out_features, in_features, *window = [rhs.shape[i] for i in dimension_numbers.rhs_spec]
    _check_groups(lhs, rhs, (batch, features, out_features, in_features),
                  feature_group_count, batch_group_count)  # fmt: skip
    spatial = window_counts(sizes, window, window_strides, padding, lhs_dilation, rhs_dilation)
    shape = [0] * (n + 2)
    for axis, d in zip(
        dimension_numbers.out_spec, (batch // batch_group_count, out_features, *spatial)
    ):
        shape[axis] = d
    if preferred_element_type is not None:
        check_preferred("conv_general_dilated", lhs.dtype, preferred_element_type)
        return ShapedArray(shape, preferred_element_type)
    return ShapedArray(shape, lhs.dtype, lhs.weak_type and rhs.weak_type)


def _about(lhs: ShapedArray, rhs: ShapedArray) -> str:
    return f"convolution of {lhs.str_short()} with a kernel {rhs.str_short()}{place()}"


def _check_groups(
    lhs: ShapedArray, rhs: ShapedArray, sizes: tuple[int, int, int, int], by_feature: int,
    by_batch: int,
) -> None:  # fmt: skip
    batch, features, out_features, in_features = sizes
    about = _about(lhs, rhs)
    if by_feature < 1 or by_batch < 1 or (by_feature > 1 and by_batch > 1):
        raise ValueError(
            f"{about}: feature_group_count={by_feature} and batch_group_count={by_batch} must be "
            "positive, and one of them must be 1."
        )
    if features % by_feature or features // by_feature != in_features:
        raise ValueError(
            f"{about}: the operand's {features} features in {by_feature} groups "
            f"(feature_group_count) make {features / by_feature:g} each, but the kernel takes "
            f"{in_features}. See dimension_numbers for which axis is which."
        )
    for name, count in (("feature_group_count", by_feature), ("batch_group_count", by_batch)):
        if out_features % count:
            raise ValueError(
                f"{about}: {name}={count} must divide the kernel's {out_features} output features."
            )
    if batch % by_batch:
        raise ValueError(
            f"{about}: batch_group_count={by_batch} must divide the operand's batch size {batch}."
        )
