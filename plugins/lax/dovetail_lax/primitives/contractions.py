"""Primitives of tensor contractions and convolutions, and how exactly products are summed."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from dovetail_core import Primitive, ShapedArray, here

from ..dtypes import promote_types
from ..element_types import BFLOAT16, FP8, finfo, itemsize_bits, kind_of
from ..errors import ShapeError
from .traits import describe
from .window_shapes import check_lengths, check_positive, window_counts

__all__ = ["DotAlgorithm", "DotAlgorithmPreset", "Precision", "STORED_TYPES", "check_algorithm"]


class Precision(enum.Enum):
    """The precision with which accelerators multiply 32-bit floats; CPUs always do it exactly."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    def __repr__(self) -> str:
        return f"Precision.{self.name}"

    def __str__(self) -> str:
        return self.name

    @classmethod
    def _missing_(cls, value: object) -> Precision | None:
        return _PRECISION_NAMES.get(value) if isinstance(value, str) else None  # type: ignore[arg-type]


_PRECISION_NAMES = {
    "default": Precision.DEFAULT,
    "fastest": Precision.DEFAULT,
    "bfloat16": Precision.DEFAULT,
    "high": Precision.HIGH,
    "bfloat16_3x": Precision.HIGH,
    "tensorfloat32": Precision.HIGH,
    "highest": Precision.HIGHEST,
    "float32": Precision.HIGHEST,
}


class DotAlgorithm(NamedTuple):
    """The types in which a contraction multiplies and accumulates, on platforms with a choice."""

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


class Recipe(NamedTuple):
    """The types in which a named algorithm multiplies, and in which its operands may be stored.

    No types of operands: those of the operands themselves, which must be 8-bit floats.
    """

    multiplied: str | None
    summed: str
    stored: tuple[str, ...] = ()
    products: int = 1
    imprecise: bool = False


class DotAlgorithmPreset(enum.Enum):
    """Named algorithms of contractions: types of the products' operands, and of their sum.

    ``X3``, ``X6`` and ``X9`` split 32-bit operands into parts of fewer bits and sum that many
    products of parts. Which of them a device offers is known when a program is lowered for it.
    """

    DEFAULT = None
    ANY_F8_ANY_F8_F32 = Recipe(None, "f32")
    ANY_F8_ANY_F8_F32_FAST_ACCUM = Recipe(None, "f32", imprecise=True)
    ANY_F8_ANY_F8_ANY = Recipe(None, "any")
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = Recipe(None, "any", imprecise=True)
    F16_F16_F16 = Recipe("f16", "f16", ("f16",))
    F16_F16_F32 = Recipe("f16", "f32", ("f16",))
    BF16_BF16_BF16 = Recipe("bf16", "bf16", ("bf16", "f32"))
    BF16_BF16_F32 = Recipe("bf16", "f32", ("bf16", "f32"))
    BF16_BF16_F32_X3 = Recipe("bf16", "f32", ("f32",), 3)
    BF16_BF16_F32_X6 = Recipe("bf16", "f32", ("f32",), 6)
    BF16_BF16_F32_X9 = Recipe("bf16", "f32", ("f32",), 9)
    TF32_TF32_F32 = Recipe("tf32", "f32", ("f32",))
    TF32_TF32_F32_X3 = Recipe("tf32", "f32", ("f32",), 3)
    F32_F32_F32 = Recipe("f32", "f32", ("f32",))
    F64_F64_F64 = Recipe("f64", "f64", ("f64",))

    def __repr__(self) -> str:
        return f"DotAlgorithmPreset.{self.name}"

    def __str__(self) -> str:
        return self.name


STORED_TYPES = {
    "f16": np.dtype(np.float16), "bf16": BFLOAT16,
    "f32": np.dtype(np.float32), "f64": np.dtype(np.float64),
}  # fmt: skip


def check_algorithm(precision: Any, lhs: Any, rhs: Any) -> None:
    """Raise TypeError where a named algorithm takes 8-bit floats and gets other operands."""
    recipe: Any = precision.value if isinstance(precision, DotAlgorithmPreset) else None
    if recipe and recipe.multiplied is None and not (lhs in FP8 and rhs in FP8):
        raise TypeError(
            f"lax.dot_general got {precision} for operands of types {lhs.name} and {rhs.name}"
            f"{here()}: it multiplies 8-bit floats. Convert the operands, or name another."
        )


Axes = tuple[int, ...]
DotDimensionNumbers: TypeAlias = tuple[
    tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]
]
"""``((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))``."""


dot_general_p = Primitive("dot_general")
"""Contracts some axes of two arrays; batch axes are those that both have in common.

Result axes: batch, then those left of ``lhs``, then those left of ``rhs``.
"""


def left_axes(ndim: int, contracting: Sequence[int], batch: Sequence[int]) -> Axes:
    """The axes that are neither contracted nor batch axes, in order."""
    return tuple([i for i in range(ndim) if i not in contracting and i not in batch])


@dot_general_p.def_abstract_eval
def _dot_general_type(
    lhs: ShapedArray,
    rhs: ShapedArray,
    *,
    dimension_numbers: Any,
    precision: Any,
    preferred_element_type: Any,
) -> ShapedArray:
    (contract_l, contract_r), (batch_l, batch_r) = dimension_numbers
    _check_side("lhs", lhs, contract_l, batch_l)
    _check_side("rhs", rhs, contract_r, batch_r)
    _check_pairs("contracting", lhs, rhs, contract_l, contract_r)
    _check_pairs("batch", lhs, rhs, batch_l, batch_r)
    check_algorithm(precision, lhs.dtype, rhs.dtype)
    shape = (
        *[lhs.shape[i] for i in batch_l],
        *[lhs.shape[i] for i in left_axes(len(lhs.shape), contract_l, batch_l)],
        *[rhs.shape[i] for i in left_axes(len(rhs.shape), contract_r, batch_r)],
    )
    dtype = lhs.dtype if lhs.dtype == rhs.dtype else _product_type(lhs.dtype, rhs.dtype)
    if preferred_element_type is not None:
        check_preferred("dot_general", dtype, preferred_element_type)
        return ShapedArray(shape, preferred_element_type)
    return ShapedArray(shape, dtype, lhs.weak_type and rhs.weak_type)


def _product_type(lhs: Any, rhs: Any) -> Any:
    """The element type of products of two types: of one kind, the wider; of one width, the signed
    integer or the float of the larger exponents; of two kinds, the promoted type."""
    kinds = kind_of(lhs), kind_of(rhs)
    if not all(k in ("signed", "unsigned") for k in kinds) and kinds[0] != kinds[1]:
        return promote_types(lhs, rhs)
    exponent = [finfo(t).nexp if kinds[0] == "floating" else 0 for t in (lhs, rhs)]
    return min(zip(exponent, (lhs, rhs)), key=lambda x: (-itemsize_bits(x[1]), -x[0], x[1].name))[1]


def multiplied_type(lhs: Any, rhs: Any) -> Any:
    """An element type that holds the values of both, to multiply in where they differ."""
    if lhs in FP8 or rhs in FP8:  # which have no promotion
        return next((t for t in (lhs, rhs) if t not in FP8), np.dtype(np.float32))
    return promote_types(lhs, rhs)


def check_preferred(what: str, own: Any, preferred: Any) -> None:
    """Raise TypeError for an element type that cannot hold sums of products of type ``own``.

    Floating-point sums may be kept in fewer bits, as their rounding is to be expected.
    """
    if preferred == own or kind_of(own) == "floating":
        return
    if kind_of(own) == "complex" and kind_of(preferred) != "complex":
        why = "it would drop the imaginary part. Take the real part of the result"
    elif _real_bits(preferred) < _real_bits(own):
        why = "it is narrower. Convert the result (.astype)"
    else:
        return
    raise TypeError(
        f"lax.{what} got preferred_element_type {preferred.name} for products of type "
        f"{own.name}{here()}: {why}, or convert the operands first."
    )


def _check_kind(own: Any, preferred: Any) -> None:
    if kind_of(own) == "floating" and kind_of(preferred) not in ("floating", "complex"):
        raise TypeError(
            f"lax.conv_general_dilated got preferred_element_type {preferred.name} for products "
            f"of type {own.name}{here()}: it would cut fractions off. Convert the result."
        )


def _real_bits(dtype: Any) -> int:
    if kind_of(dtype) == "bool":
        return 1
    return itemsize_bits(dtype) // (2 if kind_of(dtype) == "complex" else 1)


def _check_side(side: str, x: ShapedArray, contracting: Axes, batch: Axes) -> None:
    result = (*contracting, *batch)
    if len(set(result)) != len(result):
        raise TypeError(
            f"lax.dot_general got contracting axes {contracting} and batch axes {batch} for its "
            f"{side} {x.str_short()}{here()}: each axis can be named once."
        )
    if any(not 0 <= a < len(x.shape) for a in result):
        raise TypeError(
            f"lax.dot_general got contracting axes {contracting} and batch axes {batch} for its "
            f"{side} {x.str_short()}{here()}: axes must be at least 0 and less than "
            f"{len(x.shape)}."
        )


def _check_pairs(kind: str, lhs: ShapedArray, rhs: ShapedArray, left: Axes, right: Axes) -> None:
    sizes_l, sizes_r = [lhs.shape[i] for i in left], [rhs.shape[i] for i in right]
    if sizes_l != sizes_r:
        raise TypeError(
            f"lax.dot_general got operands {lhs.str_short()} and {rhs.str_short()} with {kind} "
            f"axes {left} and {right}, of sizes {tuple(sizes_l)} and {tuple(sizes_r)}{here()}: "
            "the sizes must be equal. Transpose or reshape an operand, or name other axes "
            "(dimension_numbers)."
        )


class ConvDimensionNumbers(NamedTuple):
    """The axes of each array by their meaning.

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
        _check_kind(lhs.dtype, preferred_element_type)
        check_preferred("conv_general_dilated", lhs.dtype, preferred_element_type)
        return ShapedArray(shape, preferred_element_type)
    return ShapedArray(shape, lhs.dtype, lhs.weak_type and rhs.weak_type)


def _about(lhs: ShapedArray, rhs: ShapedArray) -> str:
    return f"convolution of {lhs.str_short()} with a kernel {rhs.str_short()}{here()}"


def _check_groups(
    lhs: ShapedArray, rhs: ShapedArray, sizes: tuple[int, int, int, int], by_feature: int,
    by_batch: int,
) -> None:  # fmt: skip
    batch, features, out_features, in_features = sizes
    about = _about(lhs, rhs)
    if by_feature < 1 or by_batch < 1 or (by_feature > 1 and by_batch > 1):
        raise ShapeError(
            f"{about}: feature_group_count={by_feature} and batch_group_count={by_batch} must be "
            "positive, and one of them must be 1."
        )
    if features % by_feature or features // by_feature != in_features:
        raise ShapeError(
            f"{about}: the operand's {features} features in {by_feature} groups "
            f"(feature_group_count) make {features / by_feature:g} each, but the kernel takes "
            f"{in_features}. See dimension_numbers for which axis is which."
        )
    for name, count in (("feature_group_count", by_feature), ("batch_group_count", by_batch)):
        if out_features % count:
            raise ShapeError(
                f"{about}: {name}={count} must divide the kernel's {out_features} output features."
            )
    if batch % by_batch:
        raise ShapeError(
            f"{about}: batch_group_count={by_batch} must divide the operand's batch size {batch}."
        )


describe(__name__)
