"""How often the steps of a checkpointed loop are really executed."""

from __future__ import annotations

from collections import Counter
from functools import cache
from math import comb
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad
from dovetail_jit import jit
from dovetail_remat import Binomial, Online, Periodic

OPTIMA = {
    (10, 3): 15,
    (50, 5): 122,
    (64, 4): 200,
    (100, 10): 222,
    (100, 3): 490,
    (200, 8): 580,
    (1000, 10): 3636,
    (100000, 32): 433955,
}


def repetitions(n: int, s: int) -> int:
    """The least r with C(s + r, s) >= n."""
    r = 0
    while comb(s + r, s) < n:
        r += 1
    return r


def optimum(n: int, s: int) -> int:
    """p(n, s) by its formula."""
    r = repetitions(n, s)
    return r * n - comb(s + r, r - 1) if r else 0


@cache
def fewest(n: int, s: int) -> int:
    """p(n, s) by trying every first cut: m steps, then the part behind with one snapshot less."""
    if n == 1:
        return 0
    if s == 1:
        return n * (n - 1) // 2
    return min(m + fewest(n - m, s - 1) + fewest(m, s) for m in range(1, n))


def gradient(mark: Any, n: int, scheme: Any, backend: str = "cpu") -> Any:
    """The gradient of a scan of n steps whose executions are counted."""

    def f(x: Any) -> Any:
        def step(c: Any, k: Any) -> Any:
            return lax.sin(mark(k, c)), None

        return lax.scan(step, x, np.arange(n, dtype=np.int32), checkpoint=scheme)[0]

    return np.asarray(jit(grad(f), backend=backend)(np.float32(0.3)))


def test_the_formula_is_the_minimum_over_all_schedules() -> None:
    for s in range(1, 8):
        for n in range(1, 60):
            assert optimum(n, s) == fewest(n, s), (n, s)
    assert {key: optimum(*key) for key in OPTIMA} == OPTIMA


@pytest.mark.parametrize(("n", "s"), list(OPTIMA))
def test_binomial_takes_the_optimal_number_of_steps(
    mark: Any, counts: Counter[int], n: int, s: int
) -> None:
    gradient(mark, n, Binomial(snapshots=s))
    # All n steps are differentiated; one more is run because the result comes first.
    assert sum(counts.values()) == OPTIMA[n, s] + n + 1
    assert max(counts.values()) <= repetitions(n, s) + 1


@pytest.mark.parametrize("s", [1, 2, 3, 6, 40])
def test_binomial_is_optimal_for_small_loops(mark: Any, counts: Counter[int], s: int) -> None:
    for n in (1, 2, 3, 7, 20, 21, 22, 39):
        counts.clear()
        gradient(mark, n, Binomial(snapshots=s), "reference")
        assert sum(counts.values()) == fewest(n, s) + n + 1, n


@pytest.mark.parametrize("s", [1, 2, 3, 5, 9])
def test_online_evaluates_no_step_more_than_r_plus_one_times(
    mark: Any, counts: Counter[int], s: int
) -> None:
    def f(x: Any, n: Any) -> Any:
        return lax.fori_loop(0, n, lambda k, c: lax.sin(mark(k, c)), x, checkpoint=Online(s))

    gradient_of = jit(grad(f))
    for n in (2, 3, 4, 5, 10, 11, 20, 35, 36, 56, 57, 126, 200, 300):
        counts.clear()
        gradient_of(np.float32(0.3), n).block_until_ready()
        assert len(counts) == n
        assert max(counts.values()) <= repetitions(n, s) + 1, n


def test_online_takes_no_more_than_a_third_more_steps_than_the_optimum(
    mark: Any, counts: Counter[int]
) -> None:
    gradient(mark, 1000, Online(snapshots=10))
    assert sum(counts.values()) - 1000 <= 4 / 3 * OPTIMA[1000, 10]


def test_both_backends_execute_the_same_steps(mark: Any, counts: Counter[int]) -> None:
    for scheme in (Binomial(3), Online(3), Periodic(7)):
        counts.clear()
        gradient(mark, 40, scheme)
        compiled = dict(counts)
        counts.clear()
        gradient(mark, 40, scheme, "reference")
        assert dict(counts) == compiled


@pytest.mark.parametrize(("n", "every"), [(1, 1), (10, 3), (12, 4), (5, 9), (30, 1)])
def test_periodic_computes_each_segment_once_more(
    mark: Any, counts: Counter[int], n: int, every: int
) -> None:
    gradient(mark, n, Periodic(every=every))
    again = sum(1 for k in range(n) if k % every != every - 1 and k != n - 1)
    assert sum(counts.values()) == n + again + n
    assert max(counts.values()) <= 3


def test_a_loop_that_is_not_differentiated_runs_once(mark: Any, counts: Counter[int]) -> None:
    def step(c: Any, k: Any) -> Any:
        return lax.sin(mark(k, c)), None

    steps = np.arange(20, dtype=np.int32)
    jit(lambda x: lax.scan(step, x, steps, checkpoint=Binomial(2))[0])(np.float32(1))
    assert set(counts.values()) == {1} and len(counts) == 20
