"""Differentiation of what is constant in pieces: comparisons, bits, rounding."""

from __future__ import annotations

from ...primitives.bits import (
    and_p,
    clz_p,
    not_p,
    or_p,
    population_count_p,
    shift_left_p,
    shift_right_arithmetic_p,
    shift_right_logical_p,
    xor_p,
)
from ...primitives.comparison import (
    eq_p,
    eq_to_p,
    ge_p,
    gt_p,
    le_p,
    le_to_p,
    lt_p,
    lt_to_p,
    ne_p,
)
from ...primitives.rounding import ceil_p, floor_p, is_finite_p, reduce_precision_p, round_p
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
