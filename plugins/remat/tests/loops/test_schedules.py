"""The integer arithmetic of schedules, up to the longest loops, against Python's exact integers."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest

from dovetail_jit import jit
from dovetail_remat.loops import Binomial, Numbers, Online, Periodic, Scheme
from dovetail_remat.loops.forward import insert_state, searched
from dovetail_remat.loops.schemes import LONGEST, binomial_cut

RNG = np.random.default_rng(7)
cut = jit(lambda n, c, r, low: binomial_cut(n, c, Numbers(r, low)))


def numbers(n: int, c: int) -> tuple[int, int]:
    """The least r with C(c + r, c) >= n, and C(c + r - 1, c)."""
    if c == 1:
        return n - 1, n - 1
    r = int(max(0, (n ** (1 / c)) - c - 2)) if c < 6 else 0
    while comb(c + r, c) < n:
        r += 1
    return r, comb(c + r - 1, c) if r else 0


def p(n: int, c: int) -> int:
    """The optimal number of steps."""
    r, _ = numbers(n, c)
    return r * n - comb(c + r, r - 1) if r else 0


@pytest.mark.parametrize("c", [1, 2, 3, 4, 7, 32, 1000])
def test_cuts_are_optimal_up_to_the_longest_loops(c: int) -> None:
    lengths = [2, 3, c + 1, c + 2, LONGEST, *RNG.integers(2, LONGEST, 12).tolist()]
    lengths += [int(2 ** RNG.uniform(1, 30)) for _ in range(12)]
    for n in lengths:
        r, low = numbers(n, c)
        result = cut(np.int32(n), np.int32(c), np.int32(r), np.int32(low))
        m = int(result.advance)
        assert 1 <= m < n
        if c == 1:
            assert m == n - 1
            continue
        assert m + p(n - m, c - 1) + p(m, c) == p(n, c), (n, c)
        for part, snapshots, length in ((result.before, c, m), (result.after, c - 1, n - m)):
            # The numbers of a part are such that its own cut is within the optimal range.
            r, low = map(int, part)
            assert low == (comb(snapshots + r - 1, snapshots) if r else 0)
            assert low <= length <= comb(snapshots + r, snapshots)


def test_a_schedule_starts_with_the_numbers_of_the_whole_loop() -> None:
    for n in (1, 2, 10, 64, 100_000, LONGEST):
        for s in (1, 2, 3, 10, 50):
            slots = min(s, n)
            assert Binomial(s).slots(n) == slots + 1
            assert tuple(Binomial(s).start(n)) == numbers(n, slots)


@pytest.mark.parametrize("slots", [2, 3, 4, 9, 33])
def test_numbers_of_segments_are_found_by_searching(slots: int) -> None:
    find = jit(lambda positions, n: searched(positions, n, slots))
    for n in (slots, 10 * slots, 100_000, LONGEST):
        # Segments as a pass of n steps leaves them: the part behind gets one snapshot less.
        positions = [0]
        for c in range(slots - 1, 1, -1):
            left = n - positions[-1]
            positions.append(positions[-1] + max(1, min(left - c, left * 2 // 3)))
        positions.append(n - 1)
        table = np.asarray(find(np.array(positions, np.int32), np.int32(n)))
        for k, (begin, r, low) in enumerate(table.tolist()):
            length = [*positions, n][k + 1] - begin
            c = slots - 1 - k
            if c > 1:
                assert (r, low) == numbers(length, c), (n, k)


@pytest.mark.parametrize("slots", [2, 3, 5, 8])
def test_online_keeps_the_first_state_and_the_last(slots: int) -> None:
    place = jit(insert_state)
    positions = levels = np.full(slots, -1, np.int32)
    places: Any = np.arange(slots, dtype=np.int32)
    for at in range(60):
        positions, levels, places = map(np.asarray, place(np.int32(at), positions, levels, places))
        kept = positions[positions >= 0].tolist()
        assert kept == sorted(set(kept)) and len(kept) == min(at + 1, slots)
        assert kept[0] == 0 and kept[-1] == at
        assert sorted(places.tolist()) == list(range(slots))


def test_schemes_are_values() -> None:
    assert Binomial(3) == Binomial(snapshots=3) and hash(Online(2)) == hash(Online(2))
    assert isinstance(Binomial(3), Scheme) and isinstance(Periodic(3), Scheme)
    assert not isinstance(Online(3), Scheme)
    assert Periodic(4).slots(10) == 3 + 4 - 1
