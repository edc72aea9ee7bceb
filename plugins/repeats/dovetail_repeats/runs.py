"""Kinds of equations, and runs: stretches of a sequence of kinds that repeat with some period.

Two equations are of one kind if they differ in their operands alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import attrgetter, eq
from typing import Any, NamedTuple

from dovetail_core import Eqn, Literal

_CANDIDATES = 24
"""The number of periods that are tried, the most frequent distances of equal stretches first."""
_STRETCH = 4
"""The number of kinds in a row that make a stretch."""


class Run(NamedTuple):
    """``kinds[i] == kinds[i + period]`` for each ``i`` in ``range(start, stop - period)``."""

    start: int
    stop: int
    period: int

    @property
    def saved(self) -> int:
        """The number of equations that need not be compiled."""
        return ((self.stop - self.start) // self.period - 1) * self.period


def runs(kinds: Sequence[int], least: int) -> list[Run]:
    """The runs that do not overlap, those that save most first.

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
    """The most frequent distances from a stretch of kinds to its next occurrence."""
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


_aval = attrgetter("aval")


def coarse_kinds(eqns: Sequence[Eqn]) -> list[int]:
    """As :func:`kinds`, by primitives and types of results alone: a fraction of the time."""
    known: dict[Any, int] = {}
    return [known.setdefault((e.primitive, *map(_aval, e.outvars)), len(known)) for e in eqns]


def kinds(eqns: Sequence[Eqn]) -> list[int]:
    """A number for each equation, the same for those of one kind.

    An equation with an unhashable parameter is of no other's kind.
    """
    known: dict[Any, int] = {}
    result: list[int] = []
    for eqn in eqns:
        ins = [(x.aval, x.__class__ is Literal) for x in eqn.invars]
        key = (
            eqn.primitive, *ins, *map(_aval, eqn.outvars), eqn.effects,
            eqn.primitive.keys.of(eqn.params),
        )  # fmt: skip
        try:
            result.append(known.setdefault(key, len(known)))
        except TypeError:
            result.append(known.setdefault(eqn, len(known)))
    return result
