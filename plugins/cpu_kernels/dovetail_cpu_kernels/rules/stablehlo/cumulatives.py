"""Cumulative sums, products, maxima and minima."""

from __future__ import annotations

from typing import Any

from dovetail_backends import boolean, i64, stablehlo_rules
from dovetail_core import Primitive
from dovetail_lax import cummax_p, cummin_p, cumprod_p, cumsum_p

from ...library import NUMBERS, serves

_LEAST = 8
"""Elements of a line from which kernels were faster."""


def _cumulative(primitive: Primitive, operation: int) -> None:
    def rule(b: Any, x: Any, *, axis: int, reverse: bool) -> Any:
        if serves(b) and x.aval.dtype.name in NUMBERS and x.aval.shape[axis] >= _LEAST:
            config = {"axis": i64(axis), "reverse": boolean(reverse), "operation": i64(operation)}
            return b.custom_call("dovetail_cpu_cumulative", [x], b.outs, config)[0]
        return stablehlo_rules.replaced(primitive, rule)(b, x, axis=axis, reverse=reverse)

    stablehlo_rules.set(primitive, rule, override=True)


for _operation, _primitive in enumerate((cumsum_p, cumprod_p, cummax_p, cummin_p)):
    _cumulative(_primitive, _operation)
