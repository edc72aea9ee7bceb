"""Differentiation of what is constant in pieces, and by decompositions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules, jvp_values
from dovetail_core import Primitive

from ...primitives.discrete import (
    and_p,
    ceil_p,
    clz_p,
    eq_p,
    eq_to_p,
    floor_p,
    ge_p,
    gt_p,
    is_finite_p,
    le_p,
    le_to_p,
    lt_p,
    lt_to_p,
    ne_p,
    not_p,
    or_p,
    population_count_p,
    reduce_precision_p,
    round_p,
    shift_left_p,
    shift_right_arithmetic_p,
    shift_right_logical_p,
    xor_p,
)
from .kinds import linear, zero

for _p in (eq_p, ne_p, lt_p, le_p, gt_p, ge_p, eq_to_p, le_to_p, lt_to_p):
    zero(_p)
for _p in (not_p, and_p, or_p, xor_p, population_count_p, clz_p):
    zero(_p)
for _p in (shift_left_p, shift_right_logical_p, shift_right_arithmetic_p):
    zero(_p)
for _p in (floor_p, ceil_p, round_p, is_finite_p):
    zero(_p)

# Rounding to fewer bits is taken as linear: tangents are rounded to the same format.
linear(reduce_precision_p)


def by_decomposition(primitive: Primitive) -> None:
    """Add the rule of a primitive whose tangents are those of its decomposition.

    Without a rule they would be, too, but then so would the values: rounded otherwise than where
    nothing is differentiated.
    """
    decomposition = primitive.decomposition
    assert decomposition is not None

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        def whole(*xs: Any) -> Sequence[Any]:
            out = decomposition(*xs, **params)
            return out if primitive.multiple_results else [out]

        answer = primitive.bind(*primals, **params)
        result = jvp_values(whole, primals, tangents)[1]
        return answer, result if primitive.multiple_results else result[0]

    jvp_rules.set(primitive, rule)
