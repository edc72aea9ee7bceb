"""Public functions of convolutions, and of the patches that their windows see."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from dovetail_base import arguments
from dovetail_base.arguments import integers
from dovetail_base.foreign import reword_errors
from dovetail_core import here, type_shardings

from ..dtypes import as_dtype
from ..primitives.contractions import ConvDimensionNumbers, conv_general_dilated_p
from ..primitives.discrete import eq_p
from ..primitives.moves import moved, reshaped, reversed_along, transposed
from ..primitives.shape import broadcast_in_dim_p
from ..primitives.values import convert_element_type_p, iota_p
from ..primitives.window_shapes import check_lengths, dilated, pads_of
from .contractions import dot_general
from .conv_numbers import ConvGeneralDilatedDimensionNumbers, conv_dimension_numbers, transpose_pads
from .operands import Array, ArrayLike, binary, check
from .precision import PrecisionLike, convolution_precision

Padding = str | Sequence[tuple[int, int]]


def conv_general_dilated(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: Padding,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Convolution (cross-correlation) of ``lhs`` with the kernel ``rhs``, of one dtype.

    Args:
        padding: ``"SAME"``, ``"SAME_LOWER"``, ``"VALID"``, or ``(low, high)`` per spatial axis.
        lhs_dilation: one more than the zeros between elements of ``lhs`` (transposed convolution).
        rhs_dilation: one more than the zeros between elements of ``rhs``.
        dimension_numbers: see :func:`conv_dimension_numbers`.
        feature_group_count: groups of features that are convolved separately.
        batch_group_count: groups of the batch, each convolved with its part of output features.
        preferred_element_type: the type to accumulate in and return.

    Raises:
        RuntimeError: the padding's name is unknown.
        TypeError: dtypes or ranks differ, dimension numbers are wrong, or strides, pads or
            dilations are not one valid number per spatial axis.
        ValueError: sizes and groups do not fit.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding,
            conv_general_dilated,
            lhs,
            rhs,
            window_strides,
            padding,
            lhs_dilation,
            rhs_dilation,
            dimension_numbers,
            feature_group_count,
            batch_group_count,
            precision,
            preferred_element_type,
        )
    a, b = check("conv_general_dilated", lhs), check("conv_general_dilated", rhs)
    dn = conv_dimension_numbers(a.shape, b.shape, dimension_numbers)
    strides = integers("window_strides", window_strides)
    ones = (1,) * (len(a.shape) - 2)
    holes_l = ones if lhs_dilation is None else integers("lhs_dilation", lhs_dilation)
    holes_r = ones if rhs_dilation is None else integers("rhs_dilation", rhs_dilation)
    if isinstance(padding, str):
        padding = _named(padding, a.shape, b.shape, dn, strides, holes_l, holes_r)
    params = {
        "window_strides": strides,
        "padding": arguments.items("padding", padding, integers),
        "lhs_dilation": holes_l,
        "rhs_dilation": holes_r,
        "dimension_numbers": dn,
        "feature_group_count": arguments.integer("feature_group_count", feature_group_count),
        "batch_group_count": arguments.integer("batch_group_count", batch_group_count),
        "precision": convolution_precision(precision),
        "preferred_element_type": (
            None if preferred_element_type is None else as_dtype(preferred_element_type)
        ),
    }
    return binary(conv_general_dilated_p, lhs, rhs, params)


def _named(
    padding: str,
    lhs: tuple[int, ...],
    rhs: tuple[int, ...],
    dn: ConvDimensionNumbers,
    strides: tuple[int, ...],
    lhs_dilation: tuple[int, ...],
    rhs_dilation: tuple[int, ...],
) -> list[tuple[int, int]]:
    if any(d != 1 for d in lhs_dilation) and padding.upper() != "VALID":
        raise ValueError(
            f"lax.conv_general_dilated got padding {padding!r} with lhs_dilation {lhs_dilation}"
            f"{here()}: what that means is not defined. Give (low, high) per spatial axis, or use "
            "lax.conv_transpose."
        )
    sizes = [lhs[i] for i in dn.lhs_spec[2:]]
    n = len(sizes)
    check_lengths("conv_general_dilated", n, window_strides=strides, rhs_dilation=rhs_dilation)
    spans = [dilated(rhs[i], d) for i, d in zip(dn.rhs_spec[2:], rhs_dilation)]
    if any(s < 1 for s in strides):
        return [(0, 0)] * n  # the primitive's type rule reports it
    return pads_of(padding, sizes, spans, strides)


@reword_errors
def conv(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
) -> Array:
    """Convolution with axes in the default order (see :func:`conv_general_dilated`)."""
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


@reword_errors
def conv_with_general_padding(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: Padding,
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
) -> Array:
    """Dilated convolution with axes in the default order (see :func:`conv_general_dilated`)."""
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


@reword_errors
def conv_transpose(
    lhs: ArrayLike,
    rhs: ArrayLike,
    strides: Sequence[int],
    padding: Padding,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    transpose_kernel: bool = False,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    use_consistent_padding: bool = False,
) -> Array:
    """Transposed convolution: ``strides`` spread the operand out instead of thinning the result.

    Args:
        dimension_numbers: by default features come last: ``("NHWC", "HWIO", "NHWC")``.
        padding: ``"SAME"``, ``"VALID"`` or ``(low, high)`` per spatial axis of the spread operand;
            with ``use_consistent_padding`` explicit pads are those of the convolution that this
            one transposes.
        transpose_kernel: flip the kernel and exchange its feature axes, which makes this the
            transpose of the convolution with that kernel.

    Raises:
        ValueError: the padding's name is unknown, or as :func:`conv_general_dilated`.
    """
    a, b = check("conv_transpose", lhs), check("conv_transpose", rhs)
    n = len(a.shape) - 2
    if dimension_numbers is None:
        dn = _features_last(n)
    else:
        dn = conv_dimension_numbers(a.shape, b.shape, dimension_numbers)
    if rhs_dilation is None:
        rhs_dilation = (1,) * n
    check_lengths("conv_transpose", n, strides=strides, rhs_dilation=rhs_dilation)
    spans = [dilated(b.shape[i], d) for i, d in zip(dn.rhs_spec[2:], rhs_dilation)]
    if isinstance(padding, str):
        padding = [transpose_pads(k, s, padding) for k, s in zip(spans, strides)]
    elif use_consistent_padding:
        padding = [(k - 1 - lo, k - 1 - hi) for k, (lo, hi) in zip(spans, padding)]
    if transpose_kernel:
        rhs = _flipped(rhs, dn.rhs_spec)
    return conv_general_dilated(
        lhs,
        rhs,
        (1,) * n,
        padding,
        strides,
        rhs_dilation,
        dn,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def _features_last(n: int) -> ConvDimensionNumbers:
    spatial = tuple(range(1, n + 1))
    arrays = (0, n + 1, *spatial)
    return ConvDimensionNumbers(arrays, (n + 1, n, *range(n)), arrays)


def _flipped(rhs: Any, spec: tuple[int, ...]) -> Any:
    """The kernel with spatial axes reversed and feature axes exchanged."""
    order = list(range(len(spec)))
    order[spec[0]], order[spec[1]] = spec[1], spec[0]
    return transposed(reversed_along(rhs, spec[2:]), order)


@reword_errors
def conv_general_dilated_patches(
    lhs: ArrayLike,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Padding,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
) -> Array:
    """The elements that a window covers at each of its positions, as features.

    Feature ``c * size + w`` of the result is feature ``c`` of the operand at position ``w`` in the
    window of ``size`` elements (in row-major order of the kernel's spatial axes). For the other
    arguments see :func:`conv_general_dilated`.

    Args:
        filter_shape: the window's size on each spatial axis.
        dimension_numbers: those of a convolution; the kernel's matter for the order of axes.

    Raises:
        TypeError, ValueError: as :func:`conv_general_dilated`.
    """
    aval = check("conv_general_dilated_patches", lhs)
    window = integers("filter_shape", filter_shape)
    rank = len(aval.shape)
    if len(window) != rank - 2:
        raise TypeError(
            f"lax.conv_general_dilated_patches got filter_shape {window} for {aval.str_short()}"
            f"{here()}: it needs {rank - 2} values, one per spatial axis."
        )
    dn = conv_dimension_numbers(aval.shape, (1, 1, *window), dimension_numbers)
    features, size = aval.shape[dn.lhs_spec[1]], prod(window)
    if preferred_element_type is not None:
        dtype = as_dtype(preferred_element_type)
        lhs = convert_element_type_p.bind(lhs, new_dtype=dtype, weak_type=False)
    kernel = _one_hot(size, features, window, check("conv_general_dilated_patches", lhs).dtype)
    return conv_general_dilated(
        lhs,
        transposed(kernel, sorted(range(rank), key=dn.rhs_spec.__getitem__)),
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        dn,
        feature_group_count=features,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def _one_hot(size: int, features: int, window: tuple[int, ...], dtype: Any) -> Any:
    """A kernel for each feature and each element of the window, which is one there."""
    rows, columns = (
        iota_p.bind(dtype=np.dtype(np.int32), shape=(size, size), dimension=i) for i in (0, 1)
    )
    eye = convert_element_type_p.bind(eq_p.bind(rows, columns), new_dtype=dtype, weak_type=False)
    every = broadcast_in_dim_p.bind(eye, shape=(features, size, size), broadcast_dimensions=(1, 2))
    return reshaped(every, (features * size, 1, *window))


@reword_errors
def conv_general_dilated_local(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: Padding,
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvGeneralDilatedDimensionNumbers = None,
    precision: PrecisionLike = None,
) -> Array:
    """Convolution with a kernel of its own at each position (a locally connected layer).

    Args:
        rhs: kernels: its spatial axes are the result's positions, its axis of input features holds
            the features of patches (see :func:`conv_general_dilated_patches`).
        filter_shape: the window's size on each spatial axis.

    Raises:
        TypeError, ValueError: as :func:`conv_general_dilated`; or the kernels do not fit.
    """
    shape = check("conv_general_dilated_local", lhs).shape
    kernels = check("conv_general_dilated_local", rhs).shape
    dn: ConvDimensionNumbers = conv_dimension_numbers(shape, kernels, dimension_numbers)
    patches = conv_general_dilated_patches(
        lhs, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation,
        dn, precision, None,
    )  # fmt: skip
    # Places are batch axes; the features of patches are summed over.
    spatial = (dn.out_spec[2:], dn.rhs_spec[2:])
    out = dot_general(patches, rhs, (((dn.out_spec[1],), (dn.rhs_spec[1],)), spatial), precision)
    # From (*positions, batch, features) to the order of the result's axes.
    n = len(shape) - 2
    out = moved(moved(out, n, 0), n + 1, 1)
    return transposed(out, sorted(range(n + 2), key=dn.out_spec.__getitem__))
