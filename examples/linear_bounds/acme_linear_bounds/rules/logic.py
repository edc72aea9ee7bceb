"""Rules of comparisons, choices and conversions: bounds of a boolean say what is certain."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
from dovetail_core import Primitive, is_inexact, lift_call

from ..bounds import Bounds, BoundsCarrier, affine_rules, aval_of
from .curves import full
from .derived import Args, Params, is_real, linear, monotone


def _order(primitive: Primitive, strict: bool, swapped: bool) -> None:
    """``x < y``, by bounds of the difference: certain where this is negative."""

    @affine_rules.register(primitive)
    def _rule(carrier: BoundsCarrier, args: Args, params: Params) -> Any:
        x, y = args[::-1] if swapped else args
        yes, no = (lax.lt, lax.le) if strict else (lax.le, lax.lt)
        if is_real(x):
            x, y = lift_call(carrier, lax.sub, [x, y]), Bounds(full(x.low, 0), full(x.low, 0))
        return Bounds(yes(x.high, y.low), lax.bitwise_not(no(y.high, x.low)))


_order(lax.lt_p, True, False)
_order(lax.le_p, False, False)
_order(lax.gt_p, True, True)
_order(lax.ge_p, False, True)


def _logical(primitive: Primitive, signs: str) -> None:
    @affine_rules.register(primitive)
    def _rule(carrier: BoundsCarrier, args: Args, params: Params) -> Any:
        if any(aval_of(a.low).dtype.kind != "b" for a in args):
            return NotImplemented
        return monotone(carrier, primitive, args, params, signs)


_logical(lax.and_p, "++")
_logical(lax.or_p, "++")
_logical(lax.not_p, "-")


@affine_rules.register(lax.select_n_p)
def _select_n(carrier: BoundsCarrier, args: Args, params: Params) -> Any:
    return NotImplemented if args[0].known else carrier.select(args[0], args[1:])


@affine_rules.register(lax.convert_element_type_p)
def _convert(carrier: BoundsCarrier, args: Args, params: Params) -> Any:
    primitive = lax.convert_element_type_p
    if is_real(args[0]) and is_inexact(params["new_dtype"]):
        return linear(carrier, primitive, args, params, "+", (0,))
    return monotone(carrier, primitive, args, params, "+")


@affine_rules.register(lax.gather_p)
def _gather(carrier: BoundsCarrier, args: Args, params: Params) -> Any:
    if not args[1].known or not is_real(args[0]) or params["fill_value"] not in (None, 0):
        return NotImplemented
    # What is outside is a constant, where it is a number at all.
    return linear(carrier, lax.gather_p, args, {**params, "fill_value": 0}, "++", (0,))
