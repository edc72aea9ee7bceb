"""The forward pass of a checkpointed loop, which returns its results and the kept states.

The schedule of a loop with a known number of steps is that of its scheme. Otherwise
(``run_online``) each state is kept at first, and later ones replace dispensable ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import zeros_like_aval

from . import integers as i
from .description import Loop
from .schemes import LONGEST, Cut, Numbers, Online
from .steps import advance, control_of, one_step, pick, run, store

PLACED = np.int32(2**30)
"""The level of the first state, which stays."""


def run_online(
    loop: Loop, stored: Sequence[bool], consts: Any, xs: Any, carry: Any, ys: Any, kept: Any
) -> tuple[Any, Any, Any, Any]:
    """Run step by step; each state is kept first, replacing one that is dispensable."""
    slots = loop.slots
    none = np.full(slots, -1, np.int32)
    indices = np.arange(slots, dtype=np.int32)

    def goes_on(state: Any) -> Any:
        if loop.condition is None:
            return i.less(state[0], loop.length)
        return run(loop.condition, *consts, *state[4])[0]

    def step(state: Any) -> Any:
        at, positions, levels, indices, carry, ys, kept = state
        positions, levels, indices = insert_state(at, positions, levels, indices)
        kept = store(kept, i.read(indices, slots - 1), pick(carry, stored))
        carry, ys = one_step(loop, consts, xs, at, carry, ys)
        return i.add(at, 1), positions, levels, indices, carry, ys, kept

    first = (np.int32(0), none, none, indices, carry, ys, kept)
    n, positions, _, indices, carry, ys, kept = lax.while_loop(goes_on, step, first)
    table = searched(positions, n, slots)
    return carry, ys, kept, control_of(table, indices, np.int32(slots - 1), n)


def insert_state(at: Any, positions: Any, levels: Any, indices: Any) -> tuple[Any, Any, Any]:
    """The kept states with the state before step ``at`` as the last one, after one is removed.

    States are in order of position; unused entries come first, on level -1. A state is dispensable
    if a later one has a higher level: then there is one whose successor has a higher level, and the
    first such is removed. The new state has level 0. If there is none, the last state is removed,
    and the new one has the next level; the very first state has the level ``PLACED`` and stays.
    """
    slots = indices.shape[0]
    order = np.arange(slots, dtype=np.int32)
    following = lax.concatenate([lax.slice(levels, (1,), (slots,)), np.full(1, -1, np.int32)], 0)
    candidates = i.where(i.less(levels, following), order, np.full(slots, slots - 1, np.int32))
    removed = lax.reduce_min(candidates, (0,))
    last = i.equal(removed, slots - 1)
    level = i.where(last, i.add(i.read(levels, slots - 1), 1), 0)
    level = i.where(i.equal(at, 0), PLACED, level)
    after = lax.ge_p.bind(order, lax.broadcast(removed, (slots,)))

    def moved(values: Any, new: Any) -> Any:
        rest = lax.slice(values, (1,), (slots,))
        shifted = lax.concatenate([rest, lax.broadcast(new, (1,))], 0)
        return i.where(after, shifted, values)

    return moved(positions, at), moved(levels, level), moved(indices, i.read(indices, removed))


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


def run_forward(loop: Loop, stored: Sequence[bool], operands: Sequence[Any]) -> list[Any]:
    """Carries, ``ys``, buffers of the ``stored`` carries, and control integers of a loop."""
    consts, carry, xs = loop.parts(operands)
    avals = loop.parts(loop.body.in_avals)[1]
    ys = [zeros_like_aval(a) for a in loop.out_types[loop.num_carry :]]
    kept = [zeros_like_aval(loop.buffer(a)) for a in pick(avals, stored)]
    pass_over = run_online if isinstance(loop.scheme, Online) else _run_sized
    carry, ys, kept, control = pass_over(loop, stored, consts, xs, carry, ys, kept)
    return [*carry, *ys, *kept, control]


def _run_sized(
    loop: Loop, stored: Sequence[bool], consts: Any, xs: Any, carry: Any, ys: Any, kept: Any
) -> tuple[Any, Any, Any, Any]:
    """Advance from one kept state to the next, by the cuts of the scheme."""
    n = loop.length
    assert n is not None
    start = loop.scheme.start(n)
    # Per kept state: position, and the numbers of the segment that begins there. One row more,
    # because each step writes two.
    table = np.zeros((loop.slots + 1, 3), np.int32)
    table[0] = (0, *start)

    def segment(state: Any) -> Any:
        top, begin, table, carry, ys, kept = state
        kept = store(kept, top, pick(carry, stored))
        cut = first_cut(loop, top, i.subtract(n, begin), i.read(table, top))
        carry, ys = advance(loop, consts, xs, (carry, ys), begin, cut.advance)
        end = i.add(begin, cut.advance)
        return i.add(top, 1), end, divided(table, top, begin, end, cut), carry, ys, kept

    first = (np.int32(0), np.int32(0), table, carry, ys, kept)
    top, _, table, carry, ys, kept = lax.while_loop(lambda s: i.less(s[1], n), segment, first)
    indices = np.arange(loop.slots, dtype=np.int32)
    table = lax.slice(table, (0, 0), (loop.slots, 3))
    return carry, ys, kept, control_of(table, indices, i.subtract(top, 1), np.int32(n))


def first_cut(loop: Loop, top: Any, length: Any, row: Any) -> Cut:
    """The scheme's cut of the segment that begins at row ``top``, while running forward."""
    snapshots = i.subtract(loop.slots - 1, top)
    return loop.scheme.first_cut(length, snapshots, Numbers(i.read(row, 1), i.read(row, 2)))


def divided(table: Any, top: Any, begin: Any, end: Any, cut: Cut) -> Any:
    """The table with the segment at row ``top`` cut in two: this row and the next are written."""
    rows = i.row([begin, *cut.before, end, *cut.after])
    block = lax.reshape_p.bind(rows, new_sizes=(2, 3), dimensions=None)
    return lax.dynamic_update_slice_p.bind(table, block, top, i.INT.type(0))
