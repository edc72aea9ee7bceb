"""The reverse pass of a checkpointed loop: one compiled loop, whatever the number of steps.

The kept states are a stack. Step ``end - 1`` is transposed at its state: while the topmost kept
state is an earlier one, the segment after it is cut by the scheme and run to the cut, and the state
there is pushed. Then the step is transposed, and its state popped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dovetail_lax as lax
from dovetail_core import zeros_like_aval

from . import integers as i
from .description import Loop
from .forward import divided, run_forward
from .schemes import Cut, Numbers, Online, binomial_cut
from .steps import advance, backward_step, known_loop, load, pick, run, slice_index, slices, store

POSITION, REPETITIONS, LENGTH, INDEX = range(4)


class Reversal:
    """One reverse pass: its loop, and the values that do not change in it."""

    def __init__(
        self, loop: Loop, unknown: tuple[bool, ...], given: tuple[bool, ...], known: Sequence[Any]
    ) -> None:
        self.loop = loop
        self.unknown = unknown
        self.step = backward_step(loop, unknown, given)
        wanted = [False] * len(given)
        self.again = known_loop(loop, unknown, wanted)
        self.consts, self.carry, self.xs = self.again.parts(known)

    def forward(self) -> list[Any]:
        """Run forward and keep states; returns control, then buffers."""
        stored = [True] * self.again.num_carry
        outs = run_forward(self.again, stored, [*self.consts, *self.carry, *self.xs])
        return [outs[-1], *outs[self.again.num_carry : -1]]

    def run(self, control: Any, kept: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        """Cotangents of the unknown operands, given those of carries and ``ys``."""
        loop, slots = self.loop, self.loop.slots
        rows = lax.slice(control, (0, 0), (slots, 4))
        table = lax.slice(rows, (0, 0), (slots, INDEX))
        indices = lax.squeeze(lax.slice(rows, (0, INDEX), (slots, INDEX + 1)), (1,))
        last = i.read(control, slots)
        carry_cts, y_cts = cts[: self.num_live], cts[self.num_live :]
        consts, _, xs = loop.parts(loop.in_types)
        flags = loop.parts(self.unknown)
        sums = [zeros_like_aval(a.cotangent_type()) for a in pick(consts, flags[0])]
        x_cts = [zeros_like_aval(a.cotangent_type()) for a in pick(xs, flags[2])]
        first = (i.read(last, 0), i.read(last, 1), table, list(kept), sums, list(carry_cts), x_cts)

        def back(state: Any) -> Any:
            top, end, table, kept, sums, carry_cts, x_cts = state
            top, table, kept = self.reach(top, end, table, indices, kept)
            at = i.subtract(end, 1)
            state_now = load(kept, i.read(indices, top))
            y_now = slices(loop, y_cts, at)
            args = [*self.consts, *state_now, *slices(loop, self.xs, at)]
            outs = run(self.step, *args, *sums, *carry_cts, *y_now)
            n, m = len(sums), len(sums) + len(carry_cts)
            if x_cts:
                x_cts = store(x_cts, slice_index(loop, at), outs[m:])
            return i.subtract(top, 1), at, table, kept, outs[:n], outs[n:m], x_cts

        *_, sums, carry_cts, x_cts = lax.while_loop(lambda s: i.less(0, s[1]), back, first)
        return [*sums, *carry_cts, *x_cts]

    @property
    def num_live(self) -> int:
        """The number of unknown carries."""
        return sum(self.loop.parts(self.unknown)[1])

    def reach(
        self, top: Any, end: Any, table: Any, indices: Any, kept: Any
    ) -> tuple[Any, Any, Any]:
        """Run steps again until the state of step ``end - 1`` is on top."""

        def missing(state: Any) -> Any:
            return i.less(1, i.subtract(end, i.read(i.read(state[1], state[0]), POSITION)))

        def more(state: Any) -> Any:
            top, table, kept = state
            row = i.read(table, top)
            begin = i.read(row, POSITION)
            cut = self.cut(top, i.subtract(end, begin), row)
            carry = load(kept, i.read(indices, top))
            carry, _ = advance(self.again, self.consts, self.xs, (carry, []), begin, cut.advance)
            reached = i.add(begin, cut.advance)
            table = divided(table, top, begin, reached, cut)
            top = i.add(top, 1)
            return top, table, store(kept, i.read(indices, top), carry)

        return lax.while_loop(missing, more, (top, table, kept))

    def cut(self, top: Any, length: Any, row: Any) -> Cut:
        """The scheme's cut of the segment that begins at row ``top``."""
        snapshots = i.subtract(self.loop.slots - 1, top)
        numbers = Numbers(i.read(row, REPETITIONS), i.read(row, LENGTH))
        scheme = self.loop.scheme
        cut = binomial_cut if isinstance(scheme, Online) else scheme.cut
        return cut(length, snapshots, numbers)


def run_reverse(operands: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    """``checkpointed_reverse`` in plain loops; see the primitive."""
    loop, unknown, given = Loop.of(params), params["unknown"], params["given"]
    start = 1 + loop.parts(unknown)[1].count(False) if params["cached"] else 0
    middle = start + unknown.count(False)
    reversal = Reversal(loop, unknown, given, operands[start:middle])
    control, *kept = operands[:start] or reversal.forward()
    return reversal.run(control, kept, operands[middle:])
