"""Lowering of exponentials, logarithms and trigonometric functions."""

from __future__ import annotations

from math import log
from typing import Any

from dovetail_backends import stablehlo_rules

from ...primitives import exponential as e, trigonometric as t
from .kinds import accurate, elementwise

accurate(e.exp_p, "stablehlo.exponential")
accurate(e.expm1_p, "stablehlo.exponential_minus_one")
accurate(e.log_p, "stablehlo.log")
accurate(e.log1p_p, "stablehlo.log_plus_one")
accurate(e.logistic_p, "stablehlo.logistic")
accurate(t.sin_p, "stablehlo.sine")
accurate(t.cos_p, "stablehlo.cosine")
accurate(t.tan_p, "stablehlo.tan")
accurate(t.tanh_p, "stablehlo.tanh")
elementwise(t.asin_p, "chlo.asin")
elementwise(t.acos_p, "chlo.acos")
elementwise(t.atan_p, "chlo.atan")
elementwise(t.atan2_p, "stablehlo.atan2")
elementwise(t.sinh_p, "chlo.sinh")
elementwise(t.cosh_p, "chlo.cosh")
elementwise(t.asinh_p, "chlo.asinh")
elementwise(t.acosh_p, "chlo.acosh")
elementwise(t.atanh_p, "chlo.atanh")


@stablehlo_rules.register(e.exp2_p)
def _exp2(b: Any, x: Any, *, accuracy: Any = None) -> Any:
    scaled = b.op("stablehlo.multiply", [x, b.constant(log(2.0), x.aval)], x.aval)
    return stablehlo_rules[e.exp_p](b, scaled, accuracy=accuracy)
