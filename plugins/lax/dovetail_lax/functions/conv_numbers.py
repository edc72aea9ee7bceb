"""Dimension numbers of convolutions, and the shapes of results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from dovetail_base import arguments
from dovetail_base.foreign import reword_errors
from dovetail_base.source import called
from dovetail_core import cached, here

from ..primitives.contractions import ConvDimensionNumbers
from ..primitives.window_shapes import check_positive, dilated, pads_of, window_counts

ConvGeneralDilatedDimensionNumbers: TypeAlias = ConvDimensionNumbers | tuple[str, str, str] | None
"""What ``dimension_numbers=`` of convolutions takes."""


@reword_errors
def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any
) -> ConvDimensionNumbers:
    """Convolution dimension numbers as axes.

    Args:
        dimension_numbers: a triple of strings such as ``("NHWC", "HWIO", "NHWC")``; None for batch
            (or output features), features, spatial axes, in this order; or what this returns.

    Raises:
        TypeError: the ranks differ, or a string does not name each axis once.
    """
    lhs_shape = arguments.integers("lhs_shape", lhs_shape)
    rhs_shape = arguments.integers("rhs_shape", rhs_shape)
    n = len(lhs_shape)
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if n != len(rhs_shape):
        raise TypeError(
            f"a convolution's operand and kernel have shapes {tuple(lhs_shape)} and "
            f"{tuple(rhs_shape)}{here()}: they must have one number of axes."
        )
    if dimension_numbers is None:
        return ConvDimensionNumbers(*(tuple(range(n)),) * 3)
    if not isinstance(dimension_numbers, (tuple, list)) or len(dimension_numbers) != 3:
        raise TypeError(
            f"a convolution got dimension_numbers {dimension_numbers!r}{here()}: they are three "
            "strings such as ('NHWC', 'HWIO', 'NHWC'), a ConvDimensionNumbers or None."
        )
    return _parsed(tuple(dimension_numbers), n)


@cached
def _parsed(specs: tuple[Any, ...], n: int) -> ConvDimensionNumbers:
    _check_specs(specs, n)
    return ConvDimensionNumbers(*conv_general_permutations(specs))


def _check_specs(specs: tuple[Any, ...], n: int) -> None:
    for i, (spec, letters) in enumerate(zip(specs, ("NC", "OI", "NC"))):
        wrong = not isinstance(spec, str) or len(spec) != n or len(set(spec)) != n
        if wrong or any(c not in spec for c in letters):
            raise TypeError(
                f"a convolution of arrays with {n} axes got dimension_numbers[{i}] {spec!r}"
                f"{here()}: it is a string that names each axis by another letter, among them "
                f"{letters[0]!r} and {letters[1]!r}."
            )
    spatial = [{c for c in s if c not in letters} for s, letters in zip(specs, ("NC", "OI", "NC"))]
    if not spatial[0] == spatial[1] == spatial[2]:
        raise TypeError(
            f"a convolution got dimension_numbers {specs}{here()}: all three strings must name "
            "the same spatial axes."
        )


def _three_strings(given: Any) -> tuple[str, ...]:
    result = arguments.strings("dimension_numbers", given)
    if len(result) != 3:
        raise TypeError(f"dimension_numbers must be three strings, got {result}{here()}")
    lacking = [
        (s, c) for s, letters in zip(result, ("NC", "OI", "NC")) for c in letters if c not in s
    ]
    spatial = [c for c in result[1] if c not in "OI"]
    lacking += [(s, c) for s in (result[0], result[2]) for c in spatial if c not in s]
    for text, letter in lacking:
        raise ValueError(
            f"dimension_numbers {result}: {text!r} does not have the axis {letter!r}{here()}"
        )
    return result


@reword_errors
def conv_general_permutations(
    dimension_numbers: Sequence[str],
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Per string, the axes of batch (or output features), features, and spatial axes.

    Spatial axes come in the order in which the kernel's string names them.
    """
    lhs, rhs, out = _three_strings(dimension_numbers)
    spatial = [c for c in rhs if c not in "OI"]
    return (
        tuple(lhs.index(c) for c in ["N", "C", *spatial]),
        tuple(rhs.index(c) for c in ["O", "I", *spatial]),
        tuple(out.index(c) for c in ["N", "C", *spatial]),
    )


@reword_errors
def padtype_to_pads(
    in_shape: Sequence[int],
    window_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
) -> list[tuple[int, int]]:
    """The ``(low, high)`` pads for ``"SAME"``, ``"SAME_LOWER"`` or ``"VALID"``.

    Raises:
        RuntimeError: the name is unknown.
        TypeError: ``padding`` is not a string.
    """
    return pads_of(padding, in_shape, window_shape, window_strides)


@reword_errors
def conv_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    strides: Sequence[int],
    pads: Any,
    batch_group_count: int = 1,
) -> tuple[int, ...]:
    """The shape of a convolution of arrays with axes in the default order."""
    lhs_shape = _sizes("lhs_shape", lhs_shape)
    rhs_shape = _sizes("rhs_shape", rhs_shape)
    strides = arguments.integers("strides", strides)
    check_positive("conv_shape_tuple", strides=strides)
    check_positive(
        "conv_shape_tuple",
        batch_group_count=[arguments.integer("batch_group_count", batch_group_count)],
    )
    if isinstance(pads, str):
        pads = pads_of(pads, lhs_shape[2:], rhs_shape[2:], strides)
    ones = (1,) * len(strides)
    spatial = window_counts(lhs_shape[2:], rhs_shape[2:], strides, pads, ones, ones)
    return (lhs_shape[0] // batch_group_count, rhs_shape[0], *spatial)


def _sizes(argument: str, shape: Any) -> tuple[int, ...]:
    result = arguments.integers(argument, shape)
    if len(result) < 2:
        raise TypeError(f"{argument} must have two sizes or more, got {result}{called()}")
    return result


@reword_errors
def conv_general_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    dimension_numbers: Any,
) -> tuple[int, ...]:
    """The shape of a convolution with the given dimension numbers."""
    dn = conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers)
    result = conv_shape_tuple(
        [lhs_shape[i] for i in dn.lhs_spec],
        [rhs_shape[i] for i in dn.rhs_spec],
        window_strides,
        padding,
    )
    return _placed(result, dn)


@reword_errors
def conv_transpose_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    dimension_numbers: Any,
) -> tuple[int, ...]:
    """The shape of a transposed convolution with the given dimension numbers."""
    dn = conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers)
    lhs = [lhs_shape[i] for i in dn.lhs_spec]
    rhs = [rhs_shape[i] for i in dn.rhs_spec]
    window_strides = arguments.integers("window_strides", window_strides)
    if isinstance(padding, str):
        padding = [transpose_pads(k, s, padding) for k, s in zip(rhs[2:], window_strides)]
    inner = [dilated(d, s) for d, s in zip(lhs[2:], window_strides)]
    ones = (1,) * len(inner)
    spatial = window_counts(inner, rhs[2:], ones, padding, ones, ones)
    return _placed((lhs[0], rhs[0], *spatial), dn)


def transpose_pads(window: int, stride: int, padding: str) -> tuple[int, int]:
    """The pads of a transposed convolution along one axis.

    ``"SAME"`` makes the result's length the operand's times the stride, ``"VALID"`` that of the
    operand of which the convolution forward would make this one's.

    Raises:
        ValueError: the name is neither.
    """
    if padding not in ("SAME", "VALID"):
        raise ValueError(
            f"lax.conv_transpose got padding {padding!r}{here()}: it is 'SAME', 'VALID' or a "
            "sequence of (low, high) pairs."
        )
    total = window + stride - 2
    if padding == "VALID":
        total += max(window - stride, 0)
        low = window - 1
    else:
        low = window - 1 if stride > window - 1 else -(-total // 2)
    return low, total - low


def _placed(sizes: Sequence[int], dn: ConvDimensionNumbers) -> tuple[int, ...]:
    shape = [0] * len(sizes)
    for axis, d in zip(dn.out_spec, sizes):
        shape[axis] = d
    return tuple(shape)
