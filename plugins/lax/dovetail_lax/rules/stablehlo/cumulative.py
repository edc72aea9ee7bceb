"""Lowering of cumulative reductions: windows of growing length."""

from __future__ import annotations

from typing import Any

from dovetail_backends import stablehlo_rules
from dovetail_core import Primitive

from ...primitives.reductions import cummax_p, cummin_p, cumprod_p, cumsum_p
from .windowed import reduced_over_windows


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
            b, x, kind, window_dimensions=window, window_strides=ones, padding=tuple(pads),
            base_dilation=ones, window_dilation=ones,
        )  # fmt: skip

    stablehlo_rules.set(primitive, rule)


_cumulative(cumsum_p, "sum")
_cumulative(cumprod_p, "prod")
_cumulative(cummax_p, "max")
_cumulative(cummin_p, "min")
