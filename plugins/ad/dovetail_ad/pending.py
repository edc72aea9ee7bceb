"""Cotangents that devices of a mesh have in part: summed where there is the least to be summed.

The cotangent of what was broadcast is larger than that of what it was broadcast from. So devices do
not exchange the former: each makes the latter of its own part, and that is summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import typeof
from dovetail_core.types.algebra import collected

from .linear import LinearInput


class Pending:
    """What waits, in one backward pass.

    Args:
        record: the equations that are still to be transposed.
    """

    __slots__ = ("_broadcast", "_record", "waiting")

    def __init__(self, record: Sequence[Any]) -> None:
        self._record = record
        self._broadcast: set[int] | None = None
        self.waiting: set[int] = set()

    def collected(self, ct: Any, x: LinearInput, cts: Sequence[Any]) -> Any:
        """A cotangent of ``x`` of its type; as it is, where an equation can take that later."""
        aval: Any = x.aval
        if not aval.is_high and cts[x.index] is None and self._waits(typeof(ct), aval, x.index):
            self.waiting.add(x.index)
            return ct
        return collected(ct, aval)

    def settle(self, x: LinearInput, cts: list[Any]) -> None:
        """Give a cotangent that waits its type: another is to be added to it."""
        if x.index in self.waiting:
            self.waiting.discard(x.index)
            cts[x.index] = collected(cts[x.index], x.aval)

    def _waits(self, now: Any, aval: Any, index: int) -> bool:
        if not now.vma - aval.vma and now.divided is aval.divided:
            return False
        if any(d.spec.unreduced or d.spec.reduced for d in (now.divided, aval.divided) if d):
            return False
        if self._broadcast is None:
            self._broadcast = {
                outs[0].index
                for primitive, _, _, outs, _ in self._record
                if primitive.traits.shrinks_back
            }
        return index in self._broadcast
