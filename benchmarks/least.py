"""The least seconds of programs that are run in turn."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

BUDGET = 0.12
"""Seconds for a size, if three rounds take no longer."""
LONG = 0.25
"""Seconds from which a program runs once."""

Program = Callable[[int], None]
"""Runs so many times."""


def least(programs: Sequence[Program]) -> list[float]:
    """The least seconds of each."""
    best = [_seconds(p, 1) for p in programs]
    again = [i for i, t in enumerate(best) if t < LONG]
    repeats = [max(1, int(3e-4 / t)) for t in best]
    for i in again:
        best[i] = math.inf
    end, rounds = time.perf_counter() + BUDGET, 0
    while again and (rounds < 3 or time.perf_counter() < end):
        for i in again if rounds % 2 else reversed(again):
            best[i] = min(best[i], _seconds(programs[i], repeats[i]))
        rounds += 1
    return best


def _seconds(program: Program, repeats: int) -> float:
    start = time.perf_counter()
    program(repeats)
    return (time.perf_counter() - start) / repeats
