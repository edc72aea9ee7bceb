"""Products of matrices, and convolutions."""

from __future__ import annotations

from typing import Any

from dovetail_sharding.types import (
    Application,
    Parts,
    ask_for_out_sharding,
    axes_of,
    infer_rules,
    undivided_along,
)

from ...primitives.contractions import (
    ConvDimensionNumbers,
    conv_general_dilated_p,
    dot_general_p,
    left_axes,
)

REMEDY = ask_for_out_sharding("dot_general(..., out_sharding=...), or that of matmul and einsum")


@infer_rules.register(dot_general_p)
def _dot_general(app: Application, /, *, dimension_numbers: Any, **params: Any) -> Parts:
    (contract_l, contract_r), (batch_l, batch_r) = dimension_numbers
    lhs, rhs = app.all_parts
    summed: list[Any] = []
    for i, j in zip(contract_l, contract_r):
        own = app.merged(f"the contracted dimension {i}", [lhs[i], rhs[j]])
        summed += axes_of(own) if lhs[i] == rhs[j] else ()
    batch = [
        app.merged(f"the batch dimension {i}", [lhs[i], rhs[j]]) for i, j in zip(batch_l, batch_r)
    ]
    result = (
        *batch,
        *[lhs[i] for i in left_axes(len(lhs), contract_l, batch_l)],
        *[rhs[i] for i in left_axes(len(rhs), contract_r, batch_r)],
    )
    used = [a for p in result for a in axes_of(p)]
    for a in used:
        if used.count(a) > 1:
            app.refuse(f"its result would be divided twice along the axis {a!r}", REMEDY)
    if summed:
        app.refuse(
            f"both operands are divided along {summed} where they are contracted, so that the "
            "result is a sum over devices, which may end up on all of them or be divided",
            REMEDY,
            summed,
            result,
        )
    return result


@infer_rules.register(conv_general_dilated_p)
def _conv(
    app: Application, /, *, dimension_numbers: ConvDimensionNumbers, feature_group_count: int,
    batch_group_count: int, window_strides: tuple[int, ...], lhs_dilation: tuple[int, ...],
    rhs_dilation: tuple[int, ...], **params: Any,
) -> Parts:  # fmt: skip
    lhs, rhs = app.all_parts
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    kernel = [rhs[i] for i in rhs_spec[1:]]
    features = lhs[lhs_spec[1]]
    if features is not None or any(p is not None for p in kernel):
        app.refuse(
            "features that are summed over, or windows, are divided",
            ask_for_out_sharding("conv_general_dilated(..., out_sharding=...)"),
        )
    # XLA's partitioner ends the process where what is divided is dilated, here or in derivatives.
    spread = zip(lhs_spec[2:], window_strides, lhs_dilation, rhs_dilation)
    undivided_along(app, [d for d, *steps in spread if max(steps) > 1])
    if batch_group_count > 1:
        undivided_along(app, [lhs_spec[0]])
    result: list[Any] = [None] * len(out_spec)
    result[out_spec[0]], result[out_spec[1]] = lhs[lhs_spec[0]], rhs[rhs_spec[0]]
    for i, j in zip(lhs_spec[2:], out_spec[2:]):
        result[j] = lhs[i]
    return tuple(result)
