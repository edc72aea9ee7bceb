"""Lowering of ``relu`` to one operation."""

from __future__ import annotations

from typing import Any

from dovetail_backends import stablehlo_rules

from ..primitives import relu_p


@stablehlo_rules.register(relu_p)
def _relu(b: Any, x: Any) -> Any:
    if x.aval.dtype.kind == "c":
        raise TypeError("relu of complex numbers has no lowering")
    return b.op("stablehlo.maximum", [x, b.constant(0, x.aval)], b.out)
