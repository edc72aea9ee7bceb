"""Runs: stretches of a sequence of kinds that repeat with some period."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
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


def runs(kinds: Sequence[int]) -> list[Run]:
    """The runs that can stand side by side, those that save most first."""
    found = [run for period in _periods(kinds) for run in _of_period(kinds, period)]
    found.sort(key=lambda r: (-r.saved, r.period))
    taken = bytearray(len(kinds))
    chosen: list[Run] = []
    for run in found:
        if not any(taken[run.start : run.stop]):
            taken[run.start : run.stop] = b"\1" * (run.stop - run.start)
            chosen.append(run)
    return chosen


def _periods(kinds: Sequence[int]) -> list[int]:
    """The most frequent distances from a stretch of kinds to where it stands next."""
    last: dict[tuple[int, ...], int] = {}
    distances: Counter[int] = Counter()
    for i in range(len(kinds) - _STRETCH + 1):
        stretch = tuple(kinds[i : i + _STRETCH])
        if stretch in last:
            distances[i - last[stretch]] += 1
        last[stretch] = i
    return [d for d, _ in distances.most_common(_CANDIDATES)]


def _of_period(kinds: Sequence[int], period: int) -> Iterator[Run]:
    """The longest runs of one period with at least two instances."""
    start = 0
    for i in range(len(kinds) - period + 1):
        if i == len(kinds) - period or kinds[i] != kinds[i + period]:
            if i - start >= period:
                yield Run(start, i + period, period)
            start = i + 1
