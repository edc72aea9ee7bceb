"""The forward pass of a loop whose number of steps is not known: a place for each state in turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import dovetail_lax as lax

from . import integers as i
from .description import Loop
from .machine import control_of, one_step, pick, run, store
from .schemes import LONGEST

PLACED = np.int32(2**30)
"""The level of the first state, which stays."""


def run_online(
    loop: Loop, stored: Sequence[bool], consts: Any, xs: Any, carry: Any, ys: Any, kept: Any
) -> tuple[Any, Any, Any, Any]:
    """Step by step; each state is kept first, in place of one that can be done without."""
    slots = loop.slots
    none = np.full(slots, -1, np.int32)
    places = np.arange(slots, dtype=np.int32)

    def goes_on(state: Any) -> Any:
        if loop.condition is None:
            return i.less(state[0], loop.length)
        return run(loop.condition, *consts, *state[4])[0]

    def step(state: Any) -> Any:
        at, positions, levels, places, carry, ys, kept = state
        positions, levels, places = placed(at, positions, levels, places)
        kept = store(kept, i.read(places, slots - 1), pick(carry, stored))
        carry, ys = one_step(loop, consts, xs, at, carry, ys)
        return i.add(at, 1), positions, levels, places, carry, ys, kept

    first = (np.int32(0), none, none, places, carry, ys, kept)
    n, positions, _, places, carry, ys, kept = lax.while_loop(goes_on, step, first)
    table = searched(positions, n, slots)
    return carry, ys, kept, control_of(table, places, np.int32(slots - 1), n)


def placed(at: Any, positions: Any, levels: Any, places: Any) -> tuple[Any, Any, Any]:
    """Find a place for the state before step ``at``: at the end, those behind what goes move up.

    Places are in order of position; unused ones are in front, on level -1. A state can be done
    without if one of a higher level comes later: then there is one whose successor has a higher
    level, and the first such goes. The new state is on level 0. If there is none the last state
    goes, and the new one is on the next level; so does the first one, on a level of its own.
    """
    slots = places.shape[0]
    order = np.arange(slots, dtype=np.int32)
    following = lax.concatenate([lax.slice(levels, (1,), (slots,)), np.full(1, -1, np.int32)], 0)
    candidates = i.where(i.less(levels, following), order, np.full(slots, slots - 1, np.int32))
    gone = lax.reduce_min(candidates, (0,))
    last = i.equal(gone, slots - 1)
    level = i.where(last, i.add(i.read(levels, slots - 1), 1), 0)
    level = i.where(i.equal(at, 0), PLACED, level)
    behind = lax.ge_p.bind(order, lax.broadcast(gone, (slots,)))

    def moved(values: Any, new: Any) -> Any:
        rest = lax.slice(values, (1,), (slots,))
        shifted = lax.concatenate([rest, lax.broadcast(new, (1,))], 0)
        return i.where(behind, shifted, values)

    return moved(positions, at), moved(levels, level), moved(places, i.read(places, gone))


def searched(positions: Any, n: Any, slots: int) -> Any:
    """The numbers of each segment: the least r with C(c + r, c) >= l, and C(c + r - 1, c)."""
    following = lax.concatenate([lax.slice(positions, (1,), (slots,)), lax.broadcast(n, (1,))], 0)
    length = i.subtract(following, positions)
    snapshots = np.arange(slots - 1, -1, -1, dtype=np.int32)

    def short(state: Any) -> Any:
        # With one snapshot (or none, for a single step) there is nothing to choose.
        return lax.bitwise_and(i.less(state[2], length), snapshots > 1)

    def more(state: Any) -> Any:
        r, _, high = state
        now = short(state)
        following = lax.broadcast(i.add(lax.reduce_max(r, (0,)), 1), (slots,))
        grown = _next_binomial(high, snapshots, following)
        return (
            i.where(now, following, r),
            i.where(now, high, state[1]),
            i.where(now, grown, high),
        )

    zero = np.zeros(slots, np.int32)
    start = (zero, zero, np.ones(slots, np.int32))
    r, low, _ = lax.while_loop(lambda s: lax.reduce_or(short(s), (0,)), more, start)
    columns = [lax.expand_dims(x, (1,)) for x in (positions, r, low)]
    return lax.concatenate(columns, 1)


def _next_binomial(before: Any, snapshots: Any, r: Any) -> Any:
    """C(c + r, c) = C(c + r - 1, c) (c + r) / r, or the greatest length if that is beyond it."""
    most = np.full(snapshots.shape, LONGEST, np.int32)
    limit = np.maximum(most // np.maximum(snapshots, 1) - 2, 0).astype(np.int32)
    grown = i.add(before, i.scaled(before, snapshots, r))
    return i.where(i.less(limit, i.divide(before, r)), most, i.minimum(grown, most))
