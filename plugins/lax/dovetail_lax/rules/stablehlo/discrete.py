"""Lowering of comparisons, bits and rounding."""

from __future__ import annotations

from typing import Any

from dovetail_backends import stablehlo_rules
from dovetail_core import Primitive

from ...primitives import discrete
from ...primitives.discrete import RoundingMethod
from .kinds import compare, elementwise
from .products import broadcast


def _comparison(primitive: Primitive, direction: str, order: str = "") -> None:
    def rule(b: Any, x: Any, y: Any) -> Any:
        x, y = broadcast(b, (x, y))
        total = order if x.aval.dtype.kind not in "biu" else ""
        return compare(b, direction, x, y, total)

    stablehlo_rules.set(primitive, rule)


_comparison(discrete.eq_p, "EQ")
_comparison(discrete.ne_p, "NE")
_comparison(discrete.lt_p, "LT")
_comparison(discrete.le_p, "LE")
_comparison(discrete.gt_p, "GT")
_comparison(discrete.ge_p, "GE")
_comparison(discrete.eq_to_p, "EQ", "TOTALORDER")
_comparison(discrete.le_to_p, "LE", "TOTALORDER")
_comparison(discrete.lt_to_p, "LT", "TOTALORDER")

elementwise(discrete.not_p, "stablehlo.not")
elementwise(discrete.and_p, "stablehlo.and")
elementwise(discrete.or_p, "stablehlo.or")
elementwise(discrete.xor_p, "stablehlo.xor")
elementwise(discrete.shift_left_p, "stablehlo.shift_left")
elementwise(discrete.shift_right_logical_p, "stablehlo.shift_right_logical")
elementwise(discrete.shift_right_arithmetic_p, "stablehlo.shift_right_arithmetic")
elementwise(discrete.population_count_p, "stablehlo.popcnt")
elementwise(discrete.clz_p, "stablehlo.count_leading_zeros")

elementwise(discrete.floor_p, "stablehlo.floor")
elementwise(discrete.ceil_p, "stablehlo.ceil")
elementwise(discrete.is_finite_p, "stablehlo.is_finite")


@stablehlo_rules.register(discrete.round_p)
def _round(b: Any, x: Any, *, rounding_method: RoundingMethod) -> Any:
    afz = rounding_method == RoundingMethod.AWAY_FROM_ZERO
    return b.op(f"stablehlo.round_nearest_{'afz' if afz else 'even'}", [x], b.out)


@stablehlo_rules.register(discrete.reduce_precision_p)
def _reduce_precision(b: Any, x: Any, *, exponent_bits: int, mantissa_bits: int) -> Any:
    attrs = f"exponent_bits = {exponent_bits} : i32, mantissa_bits = {mantissa_bits} : i32"
    return b.op("stablehlo.reduce_precision", [x], b.out, attrs)
