"""Rules of primitives that read and write at places given by indices.

Where indices are known, or turn out to have equal bounds, what is read or written has the bounds of
the same places; else it may come from anywhere, or go anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dovetail_lax as lax
from dovetail_core import Primitive

from ..bounds import Bounds
from .kinds import Args, Params, certain, constant, rule, shape_of, span, spread, where


def _known(indices: Sequence[Bounds]) -> bool:
    return all(low is high for low, high in indices)


def _hull(x: Bounds) -> Bounds:
    """Bounds of all elements together: scalars."""
    axes = tuple(range(len(shape_of(x[0]))))
    return lax.reduce_min_p.bind(x[0], axes=axes), lax.reduce_max_p.bind(x[1], axes=axes)


def _unless(known: Any, exact: Bounds, other: Bounds) -> Bounds:
    low, high = (where(known, x, y) for x, y in zip(exact, other))
    return low, high


@rule(lax.dynamic_slice_p)
def _dynamic_slice(carrier: Any, args: Args, params: Params) -> Bounds:
    x, *starts = args
    low, high = (lax.dynamic_slice_p.bind(end, *[s for s, _ in starts], **params) for end in x)
    if _known(starts):
        return low, high
    return _unless(certain(*starts), (low, high), _hull(x))


@rule(lax.dynamic_update_slice_p)
def _dynamic_update_slice(carrier: Any, args: Args, params: Params) -> Bounds:
    x, update, *starts = args
    places = [s for s, _ in starts]
    low, high = (lax.dynamic_update_slice_p.bind(*ends, *places) for ends in zip(x, update))
    if _known(starts):
        return low, high
    values = _hull(update)
    other = lax.min_p.bind(x[0], values[0]), lax.max_p.bind(x[1], values[1])
    return _unless(certain(*starts), (low, high), other)


@rule(lax.gather_p)
def _gather(carrier: Any, args: Args, params: Params) -> Bounds:
    x, indices = args
    low, high = (lax.gather_p.bind(end, indices[0], **params) for end in x)
    if _known([indices]):
        return low, high
    # Windows that are out of bounds for an index between its bounds are so at one of the bounds;
    # what is read there instead is among what is read at the bounds.
    least, greatest = _hull(x)
    ends = [lax.gather_p.bind(end, i, **params) for end in x for i in indices]
    other = span([*ends, least])[0], span([*ends, greatest])[1]
    dn = params["dimension_numbers"]
    vectors = lax.reduce_and_p.bind(certain(indices), axes=(len(shape_of(indices[0])) - 1,))
    shape = shape_of(low)
    places = [i for i in range(len(shape)) if i not in dn.offset_dims]
    return _unless(spread(vectors, shape, places), (low, high), other)


def _scatter(primitive: Primitive, adds: bool = False, falls: bool = False) -> None:
    """The rule of a result that rises with the operand, and with the updates (or falls)."""

    @rule(primitive)
    def _rule(carrier: Any, args: Args, params: Params) -> Bounds:
        x, indices, updates = args
        ends = zip(x, reversed(updates) if falls else updates)
        low, high = (primitive.bind(end, indices[0], update, **params) for end, update in ends)
        if _known([indices]):
            return low, high
        if adds:
            least, greatest = _sums(updates, falls)
            other = lax.add_p.bind(x[0], least), lax.add_p.bind(x[1], greatest)
        else:
            least, greatest = _hull(updates)
            other = lax.min_p.bind(x[0], least), lax.max_p.bind(x[1], greatest)
        axes = tuple(range(len(shape_of(indices[0]))))
        known = lax.reduce_and_p.bind(certain(indices), axes=axes)
        return _unless(known, (low, high), other)


def _sums(updates: Bounds, falls: bool) -> Bounds:
    """Bounds of what is added to an element by some of the updates (or subtracted)."""
    low, high = (lax.neg_p.bind(end) for end in reversed(updates)) if falls else updates
    zero, axes = constant(0, low), tuple(range(len(shape_of(low))))
    return (
        lax.reduce_sum_p.bind(lax.min_p.bind(low, zero), axes=axes),
        lax.reduce_sum_p.bind(lax.max_p.bind(high, zero), axes=axes),
    )


_scatter(lax.scatter_p)
_scatter(lax.scatter_min_p)
_scatter(lax.scatter_max_p)
_scatter(lax.scatter_add_p, adds=True)
_scatter(lax.scatter_sub_p, adds=True, falls=True)
