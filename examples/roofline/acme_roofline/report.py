"""The roofline of a function: what its operations and its lines cost, and what bounds them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from dovetail_core import dce_closed
from dovetail_jit import make_jaxpr

from .counting import Counter
from .entry import Entry, total as total_of
from .machine import Machine, measure, short


@dataclass(frozen=True)
class Report:
    """What a function costs on a machine.

    Attributes:
        lines: an entry for each line, the longest first. Its operations are taken as one kernel.
        operations: an entry for each operation, in the order of the program, taken alone.
        assumed: the loops of which it is not known how often they run.
    """

    machine: Machine
    lines: list[Entry]
    operations: list[Entry]
    assumed: list[str]

    @property
    def total(self) -> Entry:
        """The sum of all lines. The times of lines are summed in :attr:`seconds`."""
        return total_of(self.lines)

    @property
    def seconds(self) -> float:
        """The time that the machine takes at least, if lines run one after another."""
        return sum(e.seconds for e in self.lines)

    def __str__(self) -> str:
        rows = [
            str(self.machine),
            f"{'time':>5} {'bound':7} {'flop/B':>7} {'flop':>6} {'bytes':>6}  line",
        ]
        wide = max((len(e.place) for e in self.lines), default=0)
        for e in self.lines:
            share = f"{e.seconds / self.seconds:5.0%}" if self.seconds else f"{'':5}"
            numbers = f"{e.intensity:7.3g} {short(e.work):>6} {short(e.bytes):>6}"
            rows.append(f"{share} {e.bound:7} {numbers}  {e.place:{wide}}  {e.code}".rstrip())
        rows += [f"{place}: it is not known how often this loop runs" for place in self.assumed]
        return "\n".join(rows)

    def plot(self, file: str | None = None) -> Any:
        """The picture, written to a file (``.svg``, ``.png``) if one is named.

        Returns: matplotlib's figure.

        Raises:
            ImportError: matplotlib is not installed.
        """
        from .picture import draw

        return draw(self.machine, self.lines, file)


def roofline(
    f: Callable[..., Any],
    machine: Machine | None = None,
    *,
    trips: float = 1,
    branches: Literal["max", "all"] = "max",
) -> Callable[..., Report]:
    """What ``f`` costs, line by line, and what bounds it.

    Args:
        f: any function of arrays: a gradient, a mapped or compiled function.
        machine: what it is to run on; measured if it is not given.
        trips: how often a loop runs of which that is not known (a ``while_loop``).
        branches: whether of several branches the one that takes longest counts, or all.

    Returns: a function of the arguments of ``f`` (arrays, or their shapes and dtypes) to a
        :class:`Report`. ``f`` is traced and does not run.

    Raises:
        ValueError: ``branches`` is something else.
    """
    if branches not in ("max", "all"):
        raise ValueError(f"roofline: branches is 'max' or 'all', got {branches!r}")

    def report(*args: Any, **kwargs: Any) -> Report:
        program = make_jaxpr(f)(*args, **kwargs)
        program, _ = dce_closed(program, [True] * len(program.out_avals), True)
        counter = Counter(machine or measure(), trips, branches)
        operations, runs = counter.program(program, 1)
        lines: dict[str, list[Entry]] = {}
        for e in runs:
            lines.setdefault(e.place, []).append(e)
        sums = [e for e in map(total_of, lines.values()) if e.work or e.bytes]
        sums.sort(key=lambda e: -e.seconds)
        return Report(counter.machine, sums, operations, list(counter.unknown))

    return report
