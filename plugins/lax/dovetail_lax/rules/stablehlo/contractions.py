"""Lowering of contractions, convolutions and Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import Attribute, record, stablehlo_rules
from dovetail_backends.pjrt import element_type, i64_array, i64_dense, spelled
from dovetail_core import cached

from ...primitives.contractions import (
    STORED_TYPES,
    ConvDimensionNumbers,
    DotAlgorithm,
    DotAlgorithmPreset,
    conv_general_dilated_p,
    dot_general_p,
    multiplied_type,
)
from ...primitives.fft import FftType, fft_p


@stablehlo_rules.register(dot_general_p)
def _dot_general(
    b: Any,
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: Any,
    preferred_element_type: Any,
) -> Any:
    out = b.out
    if isinstance(precision, DotAlgorithmPreset):
        return _by_algorithm(b, lhs, rhs, dimension_numbers, precision)
    if lhs.aval.dtype != rhs.aval.dtype:  # no backend multiplies unequal types everywhere
        dtype = multiplied_type(lhs.aval.dtype, rhs.aval.dtype)
        lhs, rhs = b.convert(lhs, dtype), b.convert(rhs, dtype)
        attrs = _attrs(dimension_numbers, precision)
        result = b.op("stablehlo.dot_general", [lhs, rhs], out.update(dtype=dtype), attrs)
        return b.convert(result, out.dtype)
    return b.op("stablehlo.dot_general", [lhs, rhs], out, _attrs(dimension_numbers, precision))


def _by_algorithm(b: Any, lhs: Any, rhs: Any, dimension_numbers: Any, preset: Any) -> Any:
    if b.platform == "cpu" and preset not in _ON_CPU:
        names = ", ".join(p.name for p in _ON_CPU)
        raise NotImplementedError(
            f"lax.dot_general: the CPU does not offer {preset}; it has {names}. Name one of these, "
            "a Precision, or none."
        )
    recipe, out = preset.value, b.out
    if recipe.stored:
        lhs, rhs = _stored(b, lhs, recipe), _stored(b, rhs, recipe)
    total = recipe.summed
    dtype = out.dtype if total == "any" or recipe.multiplied is None else STORED_TYPES[total]
    if lhs.aval.dtype == rhs.aval.dtype == out.dtype:
        dtype = out.dtype  # devices round as they store the sum
    attrs = _attrs(dimension_numbers, _spelled(recipe, lhs.aval.dtype, rhs.aval.dtype))
    result = b.op("stablehlo.dot_general", [lhs, rhs], out.update(dtype=dtype), attrs)
    return b.convert(result, out.dtype)


_ON_CPU = tuple(
    DotAlgorithmPreset[name]
    for name in (
        "F16_F16_F16", "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "F32_F32_F32",
        "F64_F64_F64",
    )
)  # fmt: skip


def _stored(b: Any, x: Any, recipe: Any) -> Any:
    types = [STORED_TYPES[t] for t in recipe.stored]
    return x if x.aval.dtype in types else b.convert(x, types[0])


def _spelled(recipe: Any, lhs: Any, rhs: Any) -> Any:
    left, right = [recipe.multiplied or element_type(t) for t in (lhs, rhs)]
    total = "f32" if recipe.summed == "any" else recipe.summed
    return DotAlgorithm(left, right, total, 1, 1, recipe.products, recipe.imprecise)


@cached
def _attrs(dimension_numbers: Any, precision: Any) -> str:
    (contract_l, contract_r), (batch_l, batch_r) = dimension_numbers
    numbers = {
        "lhs_batching_dimensions": list(batch_l),
        "rhs_batching_dimensions": list(batch_r),
        "lhs_contracting_dimensions": list(contract_l),
        "rhs_contracting_dimensions": list(contract_r),
    }
    further = (
        {"algorithm": Attribute(_algorithm(precision))}
        if isinstance(precision, DotAlgorithm)
        else {"precision_config": _precisions(precision)}
    )
    return spelled({"dot_dimension_numbers": record("dot", numbers), **further})


def precision_config(precision: Any) -> str:
    """The text of the attribute for the precisions of both operands."""
    return f"precision_config = {_precisions(precision)}"


def _precisions(precision: Any) -> Attribute:
    names = ("DEFAULT", "DEFAULT") if precision is None else [p.name for p in precision]
    return Attribute(f"[{', '.join(f'#stablehlo<precision {n}>' for n in names)}]")


def _algorithm(a: DotAlgorithm) -> str:
    lhs, rhs, total = map(_type_named, a[:3])
    loose = "true" if a.allow_imprecise_accumulation else "false"
    return (
        f"#stablehlo.dot_algorithm<lhs_precision_type = {lhs}, rhs_precision_type = {rhs}, "
        f"accumulation_type = {total}, lhs_component_count = {a.lhs_component_count}, "
        f"rhs_component_count = {a.rhs_component_count}, num_primitive_operations = "
        f"{a.num_primitive_operations}, allow_imprecise_accumulation = {loose}>"
    )


def _type_named(given: Any) -> str:
    # ``tf32`` is the name of no element type: operands are rounded to it as they are multiplied.
    return given if given in _MULTIPLIED else element_type(np.dtype(given))


_MULTIPLIED = {r.multiplied for p in DotAlgorithmPreset if (r := p.value) and r.multiplied}


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
    numbers, out, result = dimension_numbers, b.out, None
    if b.platform == "cpu":
        lhs, rhs, out, numbers, result = _features_last(b, lhs, rhs, numbers)
    pads = i64_dense(padding) if padding else "dense<> : tensor<0x2xi64>"
    attrs = (
        f"window_strides = {i64_array(window_strides)}, padding = {pads}, lhs_dilation = "
        f"{i64_array(lhs_dilation)}, rhs_dilation = {i64_array(rhs_dilation)}, dimension_numbers = "
        f"{_numbers(numbers)}, feature_group_count = {feature_group_count} : i64, "
        f"batch_group_count = {batch_group_count} : i64, {precision_config(precision)}"
    )
    results = b.op("stablehlo.convolution", [lhs, rhs], out, attrs)
    return results if result is None else _transposed(b, results, result)


def _features_last(b: Any, lhs: Any, rhs: Any, dn: ConvDimensionNumbers) -> tuple[Any, ...]:
    """A convolution in the order of axes for which XLA has kernels on the CPU.

    Returns: the operands and the type of the result in that order, its dimension numbers, and the
        permutation that brings the result into its own order.

    XLA does the same, but in the main function alone: not in loops, branches and calls, where
    another order was up to ten times as slow.
    """
    n = len(dn.lhs_spec) - 2
    spatial = tuple(range(n))
    batch = (0, n + 1, *(i + 1 for i in spatial))
    numbers = ConvDimensionNumbers(batch, (n + 1, n, *spatial), batch)
    lhs = _transposed(b, lhs, (dn.lhs_spec[0], *dn.lhs_spec[2:], dn.lhs_spec[1]))
    rhs = _transposed(b, rhs, (*dn.rhs_spec[2:], dn.rhs_spec[1], dn.rhs_spec[0]))
    order = (dn.out_spec[0], *dn.out_spec[2:], dn.out_spec[1])
    out = b.out.update(shape=tuple([b.out.shape[i] for i in order]))
    return lhs, rhs, out, numbers, tuple([order.index(i) for i in range(n + 2)])


def _transposed(b: Any, x: Any, axes: tuple[int, ...]) -> Any:
    if axes == tuple(range(len(axes))):
        return x
    out = x.aval.update(shape=tuple([x.aval.shape[i] for i in axes]))
    return b.op("stablehlo.transpose", [x], out, f"permutation = {i64_array(axes)}")


def _numbers(dn: ConvDimensionNumbers) -> str:
    lhs, rhs, out = (
        _axes(spec, letters) for spec, letters in zip(dn, (("b", "f"), ("o", "i"), ("b", "f")))
    )
    return f"#stablehlo.conv<[{lhs}]x[{rhs}]->[{out}]>"


def _axes(spec: tuple[int, ...], letters: tuple[str, str]) -> str:
    """The meaning of each axis: one of two letters, or the number of a spatial axis."""
    names = [""] * len(spec)
    for i, axis in enumerate(spec):
        names[axis] = letters[i] if i < 2 else str(i - 2)
    return ", ".join(names)


@stablehlo_rules.register(fft_p)
def _fft(b: Any, x: Any, *, fft_type: FftType, fft_lengths: tuple[int, ...]) -> Any:
    if b.out.size == 0:
        return b.constant(0, b.out)
    attrs = (
        f"fft_type = #stablehlo<fft_type {fft_type.name}>, fft_length = {i64_array(fft_lengths)}"
    )
    return b.op("stablehlo.fft", [x], b.out, attrs)
