"""Public functions of patches: what windows see, and convolution by kernels that vary by place."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from dovetail_base.arguments import integers
from dovetail_base.foreign import names_itself

from ..dtypes import as_dtype
from ..primitives._elementwise import place
from ..primitives.contractions import ConvDimensionNumbers
from ..primitives.discrete import eq_p
from ..primitives.moves import moved, reshaped, transposed
from ..primitives.shape import broadcast_in_dim_p
from ..primitives.values import convert_element_type_p, iota_p
from ._args import Array, ArrayLike, check
from .conv import Padding, conv_general_dilated
from .conv_numbers import ConvGeneralDilatedDimensionNumbers, conv_dimension_numbers
from .dot import dot_general
from .precision import PrecisionLike


@names_itself
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
    """The elements that a window sees at each place, as features.

    Feature ``c * size + w`` of the result is feature ``c`` of the operand at place ``w`` in the
    window of ``size`` places (in row-major order of the kernel's spatial axes). For the other
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
            f"{place()}: it needs {rank - 2} values, one per spatial axis."
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
    """A kernel for each feature and each place in the window, which is one there."""
    rows, columns = (
        iota_p.bind(dtype=np.dtype(np.int32), shape=(size, size), dimension=i) for i in (0, 1)
    )
    eye = convert_element_type_p.bind(eq_p.bind(rows, columns), new_dtype=dtype, weak_type=False)
    every = broadcast_in_dim_p.bind(eye, shape=(features, size, size), broadcast_dimensions=(1, 2))
    return reshaped(every, (features * size, 1, *window))


@names_itself
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
    """Convolution with a kernel of its own at each place (a locally connected layer).

    Args:
        rhs: kernels: its spatial axes are the result's places, its axis of input features holds
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
    # From (*places, batch, features) to the order of the result's axes.
    n = len(shape) - 2
    out = moved(moved(out, n, 0), n + 1, 1)
    return transposed(out, sorted(range(n + 2), key=dn.out_spec.__getitem__))
