"""Rules of sorting, of the largest few elements, and of the place of an extremum."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import Primitive, is_inexact

from ..bounds import Bounds
from .kinds import Args, Params, constant, dtype_of, rule, shape_of, spread, where


def _over(x: Any, axis: int, reduction: Primitive) -> Any:
    """A reduction along an axis, at every place of the axis."""
    shape = shape_of(x)
    dims = [i for i in range(len(shape)) if i != axis]
    return spread(reduction.bind(x, axes=(axis,)), shape, dims)


def _hull(x: Bounds, axis: int) -> Bounds:
    """Bounds of an element that may come from any place along an axis."""
    return _over(x[0], axis, lax.reduce_min_p), _over(x[1], axis, lax.reduce_max_p)


def _spoilt(x: Bounds, axis: int) -> Bounds:
    """NaN along the axis if there is a NaN: what is not known may belong at any place."""
    if not is_inexact(dtype_of(x[0])):
        return x
    unknown = lax.or_p.bind(*[lax.ne_p.bind(end, end) for end in x])
    somewhere = _over(unknown, axis, lax.reduce_or_p)
    low, high = (where(somewhere, constant(np.nan, end), end) for end in x)
    return low, high


@rule(lax.sort_p)
def _sort(carrier: Any, args: Args, params: Params) -> list[Bounds]:
    axis, n = params["dimension"], params["num_keys"]
    if all(low is high for low, high in args[:n]):
        keys = [low for low, _ in args[:n]]
        low, high = (
            lax.sort_p.bind(*keys, *[x[end] for x in args[n:]], **params) for end in (0, 1)
        )
        return [(k, k) for k in low[:n]] + list(zip(low[n:], high[n:]))
    # The first key's k-th element rises with each of its elements. What moves along with it, or
    # decides only between equal ones, may be any other element.
    first = _spoilt(args[0], axis)
    alone = {**params, "num_keys": 1}
    low, high = (lax.sort_p.bind(end, **alone)[0] for end in first)
    return [(low, high), *[_hull(x, axis) for x in args[1:]]]


@rule(lax.top_k_p)
def _top_k(carrier: Any, args: Args, params: Params) -> list[Bounds]:
    x = _spoilt(args[0], params["axis"])
    (low, where_low), (high, _) = (lax.top_k_p.bind(end, **params) for end in x)
    shape, n = shape_of(where_low), shape_of(x[0])[params["axis"]]
    first, last = (spread(constant(i, where_low), shape) for i in (0, max(n - 1, 0)))
    return [(low, high), (first, last)]


def _place(primitive: Primitive, largest: bool) -> None:
    """The place of an extremum is one whose best value reaches the worst value of all others."""

    @rule(primitive)
    def _rule(carrier: Any, args: Args, params: Params) -> Bounds:
        (low, high), (axis,) = args[0], params["axes"]
        if largest:
            beaten = lax.lt_p.bind(high, _over(low, axis, lax.reduce_max_p))
        else:
            beaten = lax.gt_p.bind(low, _over(high, axis, lax.reduce_min_p))
        possible = lax.not_p.bind(beaten)
        first = lax.argmax_p.bind(possible, **params)
        mirrored = lax.argmax_p.bind(lax.rev_p.bind(possible, dimensions=(axis,)), **params)
        last = constant(shape_of(low)[axis] - 1, first)
        return first, lax.sub_p.bind(last, mirrored)


_place(lax.argmax_p, True)
_place(lax.argmin_p, False)
