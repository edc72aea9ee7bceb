"""Lowering of comparisons, bits and rounding."""

from __future__ import annotations

from typing import Any

from dovetail_backends import stablehlo_rules
from dovetail_core import Primitive

from ...primitives import bits, comparison, rounding
from ...primitives.rounding import RoundingMethod
from .arithmetic import broadcast
from .kinds import compare, elementwise


def _comparison(primitive: Primitive, direction: str, order: str = "") -> None:
    def rule(b: Any, x: Any, y: Any) -> Any:
        x, y = broadcast(b, (x, y))
        total = order if x.aval.dtype.kind not in "biu" else ""
        return compare(b, direction, x, y, total)

    stablehlo_rules.set(primitive, rule)


_comparison(comparison.eq_p, "EQ")
_comparison(comparison.ne_p, "NE")
_comparison(comparison.lt_p, "LT")
_comparison(comparison.le_p, "LE")
_comparison(comparison.gt_p, "GT")
_comparison(comparison.ge_p, "GE")
_comparison(comparison.eq_to_p, "EQ", "TOTALORDER")
_comparison(comparison.le_to_p, "LE", "TOTALORDER")
_comparison(comparison.lt_to_p, "LT", "TOTALORDER")

elementwise(bits.not_p, "stablehlo.not")
elementwise(bits.and_p, "stablehlo.and")
elementwise(bits.or_p, "stablehlo.or")
elementwise(bits.xor_p, "stablehlo.xor")
elementwise(bits.shift_left_p, "stablehlo.shift_left")
elementwise(bits.shift_right_logical_p, "stablehlo.shift_right_logical")
elementwise(bits.shift_right_arithmetic_p, "stablehlo.shift_right_arithmetic")
elementwise(bits.population_count_p, "stablehlo.popcnt")
elementwise(bits.clz_p, "stablehlo.count_leading_zeros")

elementwise(rounding.floor_p, "stablehlo.floor")
elementwise(rounding.ceil_p, "stablehlo.ceil")
elementwise(rounding.is_finite_p, "stablehlo.is_finite")


@stablehlo_rules.register(rounding.round_p)
def _round(b: Any, x: Any, *, rounding_method: RoundingMethod) -> Any:
    afz = rounding_method == RoundingMethod.AWAY_FROM_ZERO
    return b.op(f"stablehlo.round_nearest_{'afz' if afz else 'even'}", [x], b.out)


@stablehlo_rules.register(rounding.reduce_precision_p)
def _reduce_precision(b: Any, x: Any, *, exponent_bits: int, mantissa_bits: int) -> Any:
    attrs = f"exponent_bits = {exponent_bits} : i32, mantissa_bits = {mantissa_bits} : i32"
    return b.op("stablehlo.reduce_precision", [x], b.out, attrs)
