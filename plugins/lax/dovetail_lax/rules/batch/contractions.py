"""Batching of contractions, convolutions and Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules
from dovetail_core import algebra, cached, typeof

from ...primitives.contractions import (
    ConvDimensionNumbers,
    conv_general_dilated_p,
    dot_general_p,
    left_axes,
)
from ...primitives.fft import fft_p
from ...primitives.moves import moved, reshaped
from .axes import shifted


@batch_rules.register(dot_general_p)
def _dot_general(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    dimension_numbers: Any,
    precision: Any,
    preferred_element_type: Any,
) -> tuple[Any, int]:
    lhs, rhs = args
    # An operand that is not mapped may be a Python scalar, without a shape.
    sides = (len(getattr(lhs, "shape", ())), len(getattr(rhs, "shape", ())))
    numbers, out_dim = _plan(dimension_numbers, sides[0], sides[1], dims[0], dims[1])
    out = dot_general_p.bind(
        lhs,
        rhs,
        dimension_numbers=numbers,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )
    return out, out_dim


@cached
def _plan(
    numbers: Any, ndim_l: int, ndim_r: int, dim_l: int | None, dim_r: int | None
) -> tuple[Any, int]:
    """Dimension numbers of the mapped operands, and where the mapped axis is in the result."""
    (contract_l, contract_r), (batch_l, batch_r) = numbers
    if dim_l is not None:
        contract_l, batch_l = shifted(contract_l, dim_l), shifted(batch_l, dim_l)
    if dim_r is not None:
        contract_r, batch_r = shifted(contract_r, dim_r), shifted(batch_r, dim_r)
    if dim_l is not None and dim_r is not None:
        batch_l, batch_r = (dim_l, *batch_l), (dim_r, *batch_r)
        out_dim = 0
    else:
        left = left_axes(ndim_l, contract_l, batch_l)
        if dim_l is not None:
            out_dim = len(batch_l) + left.index(dim_l)
        else:
            right = left_axes(ndim_r, contract_r, batch_r)
            assert dim_r is not None
            out_dim = len(batch_l) + len(left) + right.index(dim_r)
    return ((contract_l, contract_r), (batch_l, batch_r)), out_dim


@batch_rules.register(conv_general_dilated_p)
def _conv(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    dimension_numbers: ConvDimensionNumbers,
    feature_group_count: int,
    batch_group_count: int,
    **params: Any,
) -> tuple[Any, int]:
    (lhs, rhs), (dim_l, dim_r) = args, dims
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    size, groups = axis.size, max(feature_group_count, batch_group_count)
    if size == 0:  # there cannot be zero groups
        return _nothing(args, dims, params | {
            "dimension_numbers": dimension_numbers, "feature_group_count": feature_group_count,
            "batch_group_count": batch_group_count,
        })  # fmt: skip
    result = (out_spec[1], 1)  # the axis of the result that the mapped axis is part of; groups
    if dim_r is None:
        assert dim_l is not None
        lhs = _merged(lhs, dim_l, lhs_spec[0], batch_group_count)
        result = (out_spec[0], 1)
    elif dim_l is None:
        rhs = _merged(rhs, dim_r, rhs_spec[0], groups)
        result = (out_spec[1], groups)
    else:
        lhs = _merged(lhs, dim_l, lhs_spec[int(batch_group_count == 1)], 1)
        rhs = _merged(rhs, dim_r, rhs_spec[0], 1)
        if batch_group_count > 1:
            batch_group_count *= size
        else:
            feature_group_count *= size
    out = conv_general_dilated_p.bind(
        lhs,
        rhs,
        dimension_numbers=dimension_numbers,
        feature_group_count=feature_group_count,
        batch_group_count=batch_group_count,
        **params,
    )
    return _parted(out, result[0], size, result[1])


def _merged(x: Any, dim: int, axis: int, groups: int) -> Any:
    """``x`` with its mapped axis merged into ``axis`` (counted without it), inside its groups."""
    x = moved(x, dim, axis)
    shape: tuple[int, ...] = x.shape
    size, length = shape[axis], shape[axis + 1]
    if groups > 1:
        x = reshaped(x, (*shape[: axis + 1], groups, length // groups, *shape[axis + 2 :]))
        x = moved(x, axis, axis + 1)
    return reshaped(x, (*shape[:axis], size * length, *shape[axis + 2 :]))


def _parted(x: Any, axis: int, size: int, groups: int) -> tuple[Any, int]:
    """The inverse of :func:`_merged`; also where the mapped axis is."""
    shape: tuple[int, ...] = x.shape
    before, length, after = shape[:axis], shape[axis], shape[axis + 1 :]
    if groups == 1:
        return reshaped(x, (*before, size, length // size, *after)), axis
    x = reshaped(x, (*before, groups, size, length // size // groups, *after))
    x = moved(x, axis + 1, axis)
    return reshaped(x, (*before, size, length // size, *after)), axis


def _nothing(
    args: Sequence[Any], dims: Sequence[int | None], params: dict[str, Any]
) -> tuple[Any, int]:
    """No results at all, of the right type."""
    avals: list[Any] = [typeof(x) for x in args]
    single = [
        a if d is None else a.update(shape=a.shape[:d] + a.shape[d + 1 :])
        for a, d in zip(avals, dims)
    ]
    out: Any = conv_general_dilated_p.infer(tuple(single), params).avals[0]
    return algebra().full(out.update(shape=(0, *out.shape)), 0), 0


@batch_rules.register(fft_p)
def _fft(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[Any],
    *,
    fft_lengths: tuple[int, ...],
    **params: Any,
) -> tuple[Any, int]:
    x, dim = args[0], dims[0]
    if dim >= len(x.shape) - len(fft_lengths):
        x, dim = moved(x, dim, 0), 0
    return fft_p.bind(x, fft_lengths=fft_lengths, **params), dim
