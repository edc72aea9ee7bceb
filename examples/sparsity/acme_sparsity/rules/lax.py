"""Rules of ``lax`` that traits do not tell: sums, products, extrema, sorting, indexing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dovetail_lax as lax
from dovetail_core import Primitive, algebra, primitives

from ..pattern import Dependence, PatternCarrier, pattern_rules
from .kinds import (
    Args,
    Params,
    counted,
    everything,
    like,
    nonzero,
    nothing,
    rule_of,
    types,
    varying,
)


def _products(
    carrier: PatternCarrier, primitive: Primitive, args: Args, params: Params
) -> Sequence[Any]:
    """A product depends on a factor where the other one is not known to be zero."""
    found: list[Any] = []
    for i in varying(args):
        pair, other = [*args], args[1 - i]
        if other.array is None:
            factor = algebra().full(other.aval, 1)
        else:
            factor = algebra().convert(nonzero(other.array), other.aval)
        pair[1 - i] = carrier.pure(factor)
        found += counted(carrier, primitive, pair, params)
    (aval,) = types(primitive, args, params)
    return [carrier.union(found, aval)]


def _gather(
    carrier: PatternCarrier, primitive: Primitive, args: Args, params: Params
) -> Sequence[Any]:
    """What is outside is filled with a constant."""
    if varying(args) != [0]:
        return everything(carrier, primitive, args, params)
    return counted(carrier, primitive, args, {**params, "fill_value": 0})


def _scatter(
    carrier: PatternCarrier, primitive: Primitive, args: Args, params: Params
) -> Sequence[Any]:
    """An element depends on itself and on the updates that come to it."""
    if 1 in varying(args):
        return everything(carrier, primitive, args, params)
    return like(lax.scatter_add_p)(carrier, primitive, args, params)


def _sort(
    carrier: PatternCarrier, primitive: Primitive, args: Args, params: Params
) -> Sequence[Any]:
    """Any element along the axis may come to any place of it."""
    axis = params["dimension"]

    def along(a: Dependence) -> Any:
        found = lax.reduce_or_p.bind(carrier.mask(a), axes=(axis,))
        return algebra().broadcast(found, a.aval.shape[axis], axis)

    return [along(a) for a in args]


for names, masks in {
    "stop_gradient": nothing,
    "reduce_max reduce_min reduce_prod": like(lax.reduce_sum_p),
    "cummax cummin cumprod cumlogsumexp": like(primitives()["cumsum"]),
    "reduce_window_max reduce_window_min": like(primitives()["reduce_window_sum"]),
    "mul dot_general conv_general_dilated": _products,
    "gather": _gather,
    "scatter-sub scatter-mul scatter-min scatter-max": _scatter,
    "sort": _sort,
}.items():
    for name in names.split():
        pattern_rules.set(primitives()[name], rule_of(primitives()[name], masks))
