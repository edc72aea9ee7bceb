"""The rule of conversions between element types."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
from dovetail_core import is_inexact

from ..bounds import Bounds
from .kinds import Args, Params, anything_where, constant, dtype_of, has_zero, rule


@rule(lax.convert_element_type_p)
def _convert(carrier: Any, args: Args, params: Params) -> Bounds:
    low, high = x = args[0]
    old, new = dtype_of(low), params["new_dtype"]
    if new.kind == "b":  # whether it is not zero
        zero = constant(0, low)
        ends = (lax.eq_p.bind(end, zero) for end in x)
        return lax.not_p.bind(_maybe_zero(x)), lax.not_p.bind(lax.and_p.bind(*ends))
    found = tuple(lax.convert_element_type_p.bind(end, **params) for end in x)
    if old.kind == "b" or is_inexact(new):
        return found
    if is_inexact(old):  # saturates, and NaN is some number
        unknown = lax.or_p.bind(lax.ne_p.bind(low, low), lax.ne_p.bind(high, high))
        return anything_where(unknown, found)
    return anything_where(lax.not_p.bind(_fits(x, found)), found)


def _maybe_zero(x: Bounds) -> Any:
    nan = lax.or_p.bind(lax.ne_p.bind(x[0], x[0]), lax.ne_p.bind(x[1], x[1]))
    return lax.or_p.bind(nan, has_zero(x))


def _fits(x: Bounds, converted: Bounds) -> Any:
    """Whether no integer between the bounds wraps around in another type.

    Then the bounds come back when they are converted back, and are still in order.
    """
    old = dtype_of(x[0])
    found = lax.le_p.bind(*converted)
    for before, after in zip(x, converted):
        back = lax.convert_element_type_p.bind(after, new_dtype=old, weak_type=False)
        found = lax.and_p.bind(found, lax.eq_p.bind(before, back))
    return found
