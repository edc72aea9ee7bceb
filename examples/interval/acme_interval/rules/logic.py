"""Rules of comparisons, choices, and operations on bits: bounds of booleans say what is certain.

(False, False) is surely false, (True, True) surely true, (False, True) is not known. A comparison
with NaN is not known either: nothing is known of what has NaN for a bound.
"""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
from dovetail_core import Primitive

from ..bounds import Bounds
from .kinds import (
    Args,
    Params,
    anything_where,
    certain,
    dtype_of,
    rule,
    shape_of,
    spread,
)


def _surely(primitive: Primitive, x: Bounds, y: Bounds) -> Any:
    """Whether ``x < y`` (or ``<=``) for all values; false where a bound is NaN."""
    return lax.and_p.bind(primitive.bind(x[1], y[0]), primitive.bind(x[0], y[1]))


def _order(primitive: Primitive, strict: bool, swapped: bool) -> None:
    yes, no = (lax.lt_p, lax.le_p) if strict else (lax.le_p, lax.lt_p)

    @rule(primitive)
    def _rule(carrier: Any, args: Args, params: Params) -> Bounds:
        x, y = reversed(args) if swapped else args
        return _surely(yes, x, y), lax.not_p.bind(_surely(no, y, x))


_order(lax.lt_p, True, False)
_order(lax.le_p, False, False)
_order(lax.gt_p, True, True)
_order(lax.ge_p, False, True)


@rule(lax.eq_p)
def _eq(carrier: Any, args: Args, params: Params) -> Bounds:
    x, y = args
    same = lax.and_p.bind(_surely(lax.le_p, x, y), _surely(lax.le_p, y, x))
    apart = lax.or_p.bind(_surely(lax.lt_p, x, y), _surely(lax.lt_p, y, x))
    return same, lax.not_p.bind(apart)


@rule(lax.ne_p)
def _ne(carrier: Any, args: Args, params: Params) -> Bounds:
    same, possible = _eq(carrier, args, params)
    return lax.not_p.bind(possible), lax.not_p.bind(same)


@rule(lax.is_finite_p)
def _is_finite(carrier: Any, args: Args, params: Params) -> Bounds:
    low, high = (lax.is_finite_p.bind(end) for end in args[0])
    infinite = lax.and_p.bind(certain(args[0]), lax.not_p.bind(low))
    return lax.and_p.bind(low, high), lax.not_p.bind(infinite)


@rule(lax.select_n_p)
def _select_n(carrier: Any, args: Args, params: Params) -> Bounds:
    which, *cases = args
    if which[0] is which[1]:
        low, high = (lax.select_n_p.bind(which[0], *[c[end] for c in cases]) for end in (0, 1))
        return low, high
    shape = max((shape_of(x[0]) for x in args), key=len)
    spreaded = [(spread(low, shape), spread(high, shape)) for low, high in cases]
    return carrier.select(which, spreaded)


def _bits(primitive: Primitive, boolean: str = "") -> None:
    """The rule of an operation on bits: exact where operands are known, else anything.

    On booleans it may be monotone: ``boolean`` says where it rises and where it falls.
    """

    @rule(primitive)
    def _rule(carrier: Any, args: Args, params: Params) -> Bounds:
        if boolean and dtype_of(args[0][0]).kind == "b":
            low = primitive.bind(*[a[s == "-"] for a, s in zip(args, boolean)])
            return low, primitive.bind(*[a[s == "+"] for a, s in zip(args, boolean)])
        exact = primitive.bind(*[a[0] for a in args])
        return anything_where(lax.not_p.bind(certain(*args)), (exact, exact))


_bits(lax.and_p, "++")
_bits(lax.or_p, "++")
for _p in (
    lax.xor_p,
    lax.shift_left_p,
    lax.shift_right_logical_p,
    lax.shift_right_arithmetic_p,
    lax.population_count_p,
    lax.clz_p,
    lax.mulhi_p,
):
    _bits(_p)


@rule(lax.not_p)
def _not(carrier: Any, args: Args, params: Params) -> Bounds:
    low, high = args[0]  # of integers, it is -1 - x
    return lax.not_p.bind(high), lax.not_p.bind(low)


def _bit_reduction(primitive: Primitive, monotone: bool) -> None:
    @rule(primitive)
    def _rule(carrier: Any, args: Args, params: Params) -> Bounds:
        low, high = (primitive.bind(end, **params) for end in args[0])
        if monotone and dtype_of(low).kind == "b":
            return low, high
        known = lax.reduce_and_p.bind(certain(args[0]), **params)
        return anything_where(lax.not_p.bind(known), (low, low))


_bit_reduction(lax.reduce_and_p, True)
_bit_reduction(lax.reduce_or_p, True)
_bit_reduction(lax.reduce_xor_p, False)
