"""Lowering of cumulative reductions: windows of growing length."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_backends.pjrt import i64_array, i64_dense
from dovetail_core import Primitive, ShapedArray

from ...monoids import IDENTITIES
from ...primitives.reductions import cummax_p, cummin_p, cumprod_p, cumsum_p
from .reductions import combiner

Axes = tuple[int, ...]


def window_attributes(
    window_dimensions: Axes,
    window_strides: Axes,
    padding: tuple[tuple[int, int], ...],
    base_dilation: Axes,
    window_dilation: Axes,
) -> str:
    """What is said of the windows of an operation."""
    return (
        f"window_dimensions = {i64_array(window_dimensions)}, window_strides = "
        f"{i64_array(window_strides)}, base_dilations = {i64_array(base_dilation)}, "
        f"window_dilations = {i64_array(window_dilation)}, padding = {_pads(padding)}"
    )


def _pads(padding: tuple[tuple[int, int], ...]) -> str:
    return i64_dense(np.asarray(padding, np.int64).reshape(-1, 2))


def reduced_over_windows(b: Any, x: Any, kind: str, attrs: str) -> Any:
    """``x`` reduced over windows (see :func:`window_attributes`) by a monoid of the ``kind``."""
    dtype = x.aval.dtype
    init = b.constant(IDENTITIES[kind](dtype), ShapedArray((), dtype))
    return b.op("stablehlo.reduce_window", [x, init], b.out, attrs, [combiner(kind, dtype)])


def _cumulative(primitive: Primitive, kind: str) -> None:
    def rule(b: Any, x: Any, *, axis: int, reverse: bool) -> Any:
        n, ndim = x.aval.shape[axis], len(x.aval.shape)
        if n < 2:
            return x
        ones = (1,) * ndim
        window = (*ones[:axis], n, *ones[axis + 1 :])
        pads = [(0, 0)] * ndim
        pads[axis] = (0, n - 1) if reverse else (n - 1, 0)
        return reduced_over_windows(
            b, x, kind, window_attributes(window, ones, tuple(pads), ones, ones)
        )

    stablehlo_rules.set(primitive, rule)


_cumulative(cumsum_p, "sum")
_cumulative(cumprod_p, "prod")
_cumulative(cummax_p, "max")
_cumulative(cummin_p, "min")
