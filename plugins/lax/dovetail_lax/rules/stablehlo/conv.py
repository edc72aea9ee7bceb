"""Lowering of convolutions."""

from __future__ import annotations

from typing import Any

from dovetail_backends import stablehlo_rules
from dovetail_backends.pjrt import i64_array, i64_dense

from ...primitives.conv import ConvDimensionNumbers, conv_general_dilated_p
from .dot import precision_config


@stablehlo_rules.register(conv_general_dilated_p)
def _conv(
    b: Any,
    lhs: Any,
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
    if lhs.aval.size == 0 or rhs.aval.size == 0:  # a kernel without elements is not accepted
        return b.constant(0, b.out)
    pads = i64_dense(padding) if padding else "dense<> : tensor<0x2xi64>"
    attrs = (
        f"window_strides = {i64_array(window_strides)}, padding = {pads}, "
        f"lhs_dilation = {i64_array(lhs_dilation)}, rhs_dilation = {i64_array(rhs_dilation)}, "
        f"dimension_numbers = {_numbers(dimension_numbers)}, "
        f"feature_group_count = {feature_group_count} : i64, "
        f"batch_group_count = {batch_group_count} : i64, {precision_config(precision)}"
    )
    return b.op("stablehlo.convolution", [lhs, rhs], b.out, attrs)


def _numbers(dn: ConvDimensionNumbers) -> str:
    lhs, rhs, out = (
        _axes(spec, letters) for spec, letters in zip(dn, (("b", "f"), ("o", "i"), ("b", "f")))
    )
    return f"#stablehlo.conv<[{lhs}]x[{rhs}]->[{out}]>"


def _axes(spec: tuple[int, ...], letters: tuple[str, str]) -> str:
    """What each axis is: one of two letters, or the number of a spatial axis."""
    names = [""] * len(spec)
    for i, axis in enumerate(spec):
        names[axis] = letters[i] if i < 2 else str(i - 2)
    return ", ".join(names)
