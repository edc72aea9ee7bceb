"""Convolutions over a mapped axis: always one convolution, with the axis merged into another.

If only the operand is mapped, its mapped axis joins the batch; if only the kernel, the output
features; if both, elements become groups. Groups that there are already stay the outer part of
the axis where the mapped axis would come between their members.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules
from dovetail_core import typeof

from ...primitives.conv import ConvDimensionNumbers, conv_general_dilated_p
from ...primitives.moves import full, moved, reshaped


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
    return full((0, *out.shape), 0, out.dtype), 0
