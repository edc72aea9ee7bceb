"""Memory traffic of a program's operations: of each alone, and of those of one line together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from dovetail_core import Eqn, Var

from .cost import Cost, nbytes

Run = list[tuple[Eqn, Cost]]


def line_of(eqn: Eqn) -> tuple[str, int]:
    """The file and the number of the line that an operation is of."""
    return ("?", 0) if eqn.source is None else (eqn.source.filename, eqn.source.line)


class Flow:
    """The operations of a program in runs of one line; views stand for what they show.

    A run is taken as one kernel: what it makes and nothing else uses does not reach memory.
    """

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self._shown: dict[Any, Any] = {}  # per view what it shows, None where that is no memory
        self._users: defaultdict[Any, set[int]] = defaultdict(set)

    def add(self, eqn: Eqn, cost: Cost) -> None:
        """The next operation."""
        if cost.view:
            operands = [self._root(x) for x in eqn.invars] or [None] * len(eqn.outvars)
            self._shown.update(zip(eqn.outvars, operands))
        if not self.runs or not self.runs[-1] or line_of(self.runs[-1][0][0]) != line_of(eqn):
            self.runs.append([])
        self.runs[-1].append((eqn, cost))
        if not cost.view or cost.reads:
            self.use(eqn.invars, len(self.runs) - 1)

    def use(self, values: Any, run: int = -1) -> None:
        """Note what a run, or something else (-1), uses."""
        for x in values:
            self._users[self._root(x)].add(run)

    def end_run(self) -> None:
        """End the current run: the next operation begins another one."""
        self.runs.append([])

    def _root(self, x: Any) -> Any:
        return self._shown.get(x, x) if isinstance(x, Var) else None

    def leaves(self, run: int) -> Callable[[Var], bool]:
        """True if something outside of a run uses a value."""
        return lambda v: bool(self._users[v] - {run})

    def traffic(self, run: Run, leaves: Callable[[Var], bool]) -> tuple[float, float]:
        """The bytes that are read and written where operations are done together."""
        made = {v for eqn, _ in run for v in eqn.outvars}
        read: dict[Any, float] = {}
        written = 0.0
        for eqn, cost in run:
            written += cost.stored
            if not cost.view:
                sizes = cost.writes or [nbytes(v.aval) for v in eqn.outvars]
                written += sum(n for v, n in zip(eqn.outvars, sizes) if leaves(v))
            elif cost.reads is None:
                continue
            for x, n in zip(eqn.invars, cost.reads or [nbytes(x.aval) for x in eqn.invars]):
                root = self._root(x)
                if root is not None and root not in made:
                    read[root] = max(read.get(root, 0.0), min(n, nbytes(root.aval)))
        return sum(read.values()), written
