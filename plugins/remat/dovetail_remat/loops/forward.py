"""The forward pass of a checkpointed loop: its results, and the states that are to be kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import zeros_like_aval

from . import integers as i
from .description import Loop
from .machine import advance, control_of, pick, store
from .online import run_online
from .schemes import Cut, Numbers, Online


def run_forward(loop: Loop, stored: Sequence[bool], operands: Sequence[Any]) -> list[Any]:
    """Carries, ``ys``, buffers of the ``stored`` carries and the control integers of a loop."""
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
    """Advance from one kept state to the next, as the scheme says."""
    n = loop.length
    assert n is not None
    start = loop.scheme.start(n)
    # Per place: position, and the numbers of the segment that begins there. One row more, because
    # each step writes two.
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
    places = np.arange(loop.slots, dtype=np.int32)
    table = lax.slice(table, (0, 0), (loop.slots, 3))
    return carry, ys, kept, control_of(table, places, i.subtract(top, 1), np.int32(n))


def first_cut(loop: Loop, top: Any, length: Any, row: Any) -> Cut:
    """The scheme's cut of the segment that begins at place ``top``, while running forward."""
    snapshots = i.subtract(loop.slots - 1, top)
    return loop.scheme.first_cut(length, snapshots, Numbers(i.read(row, 1), i.read(row, 2)))


def divided(table: Any, top: Any, begin: Any, end: Any, cut: Cut) -> Any:
    """The table of places once the segment at ``top`` is cut in two: writes there and behind."""
    rows = i.row([begin, *cut.before, end, *cut.after])
    block = lax.reshape_p.bind(rows, new_sizes=(2, 3), dimensions=None)
    return lax.dynamic_update_slice_p.bind(table, block, top, i.INT.type(0))
