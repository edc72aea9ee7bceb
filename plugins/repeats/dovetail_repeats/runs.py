"""Runs: stretches of a sequence of kinds that repeat with some period."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import eq
from typing import NamedTuple

_CANDIDATES = 24
"""How many periods are tried, the most frequent distances between equal stretches first."""
_STRETCH = 4
"""How many kinds in a row make a stretch."""


class Run(NamedTuple):
    """``kinds[i] == kinds[i + period]`` for each ``i`` in ``range(start, stop - period)``."""

    start: int
    stop: int
    period: int

    @property
    def saved(self) -> int:
        """How many equations need not be compiled."""
        return ((self.stop - self.start) // self.period - 1) * self.period


def runs(kinds: Sequence[int], least: int) -> list[Run]:
    """The runs that can stand side by side, those that save most first.

    Args:
        least: the least period.
    """
    periods = _periods(kinds, least)
    result = [run for period in periods for run in _of_period(kinds, period)]
    result.sort(key=lambda r: (-r.saved, r.period))
    taken = bytearray(len(kinds))
    chosen: list[Run] = []
    for run in result:
        if not any(taken[run.start : run.stop]):
            taken[run.start : run.stop] = b"\1" * (run.stop - run.start)
            chosen.append(run)
    return chosen


def _periods(kinds: Sequence[int], least: int) -> list[int]:
    """The most frequent distances from a stretch of kinds to where it stands next."""
    last: dict[tuple[int, ...], int] = {}
    distances: Counter[int] = Counter()
    for i, stretch in enumerate(zip(*[kinds[k:] for k in range(_STRETCH)])):
        if stretch in last:
            distances[i - last[stretch]] += 1
        last[stretch] = i
    frequent = [d for d, _ in distances.most_common() if d >= least]
    return frequent[:_CANDIDATES]


def _of_period(kinds: Sequence[int], period: int) -> Iterator[Run]:
    """The longest runs of one period with at least two instances."""
    again = bytes(map(eq, kinds, kinds[period:]))
    for result in re.finditer(rb"\x01{%d,}" % period, again):
        yield Run(result.start(), result.end() + period, period)
