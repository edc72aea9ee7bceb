"""Transposes of windowed sums, and of what gathers and scatters by windows."""

from __future__ import annotations

from functools import partial
from typing import Any

from dovetail_ad import LinearTrace, backward_pass, is_linear, transpose_rules
from dovetail_core import get_trace, run_under

from ...primitives.window_shapes import dilated
from ...primitives.windows import (
    reduce_window_sum_p,
    select_and_gather_add_p,
    select_and_scatter_add_p,
)


@transpose_rules.register(reduce_window_sum_p)
def _reduce_window_sum(
    ct: Any,
    x: Any,
    *,
    window_dimensions: tuple[int, ...],
    window_strides: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    base_dilation: tuple[int, ...],
    window_dilation: tuple[int, ...],
) -> list[Any]:
    # Element j, at low + j * base_dilation, is in window i at index w where that is
    # i * stride + w * window_dilation. So strides and base dilation are exchanged.
    pads: list[tuple[int, int]] = []
    for d, n, w, s, (low, _), b, h in zip(
        x.aval.shape, ct.shape, window_dimensions, window_strides, padding, base_dilation,
        window_dilation,
    ):  # fmt: skip
        pads.append(((w - 1) * h - low, dilated(d, b) + low - dilated(n, s)))
    out = reduce_window_sum_p.bind(
        ct,
        window_dimensions=window_dimensions,
        window_strides=base_dilation,
        padding=tuple(pads),
        base_dilation=window_strides,
        window_dilation=window_dilation,
    )
    return [out]


@transpose_rules.register(select_and_scatter_add_p)
def _select_and_scatter_add(ct: Any, source: Any, operand: Any, **params: Any) -> list[Any]:
    assert is_linear(source) and not is_linear(operand)
    ones = (1,) * len(params["window_dimensions"])
    out = select_and_gather_add_p.bind(
        ct, operand, **params, base_dilation=ones, window_dilation=ones
    )
    return [out, None]


@transpose_rules.register(select_and_gather_add_p)
def _select_and_gather_add(
    ct: Any,
    tangents: Any,
    operand: Any,
    *,
    base_dilation: tuple[int, ...],
    window_dilation: tuple[int, ...],
    **params: Any,
) -> list[Any]:
    assert is_linear(tangents) and not is_linear(operand)
    if set(base_dilation) | set(window_dilation) <= {1}:
        return [select_and_scatter_add_p.bind(ct, operand, **params), None]
    # Windows with holes have no scatter of their own: transpose the slices that they are made of.
    holes = {"base_dilation": base_dilation, "window_dilation": window_dilation}
    gather = partial(select_and_gather_add_p.decomposition, **params, **holes)  # type: ignore[arg-type]
    trace = LinearTrace(get_trace())
    unknown = trace.unknown(tangents.aval)
    out = run_under(trace, gather, unknown, operand)
    return [*backward_pass(trace, [unknown], [out], [ct]), None]
