"""Comparisons of weakly typed values are weak booleans; promotion makes them strong, as in JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_jit import jit

WEAK, WHOLE = dnp.asarray(2.0), dnp.asarray(3)
TRUE = WEAK > 1

RESULTS: dict[str, tuple[Callable[[], Any], bool]] = {
    "comparison": (lambda: WEAK > 1, True),
    "reflected": (lambda: WEAK < 1, True),
    "traced": (lambda: jit(lambda x: x > 1)(2.0), True),
    "not": (lambda: ~TRUE, True),
    "isnan": (lambda: dnp.isnan(WEAK), True),
    "isfinite": (lambda: dnp.isfinite(WEAK), True),
    "logical_and": (lambda: dnp.logical_and(WEAK, WEAK), True),
    "cond": (lambda: lax.cond(True, lambda: WEAK > 1, lambda: WEAK > 3), True),
    "full_like": (lambda: dnp.full_like(WEAK, WEAK), True),
    "angle of a complex number": (lambda: dnp.angle(dnp.asarray(1j)), True),
    "isnan of an integer": (lambda: dnp.isnan(WHOLE), True),
    "isreal": (lambda: dnp.isreal(WEAK), True),
    "iscomplex": (lambda: dnp.iscomplex(WHOLE), True),
    "with an array": (lambda: dnp.ones(2) > 1, False),
    "logical_and of booleans and a number": (
        lambda: dnp.logical_and(dnp.ones(2, dtype=bool), 2.0),
        False,
    ),
    "logical_or of a boolean and a weak number": (lambda: dnp.logical_or(TRUE, WEAK), False),
    "stack": (lambda: dnp.stack([TRUE, TRUE]), False),
    "append": (lambda: dnp.append(TRUE, TRUE), False),
    "concatenate": (lambda: dnp.concatenate([TRUE[None]]), False),
    "and": (lambda: TRUE & TRUE, False),
    "equality of booleans": (lambda: TRUE == TRUE, False),
    "logical_and of booleans": (lambda: dnp.logical_and(TRUE, TRUE), False),
    "isinf": (lambda: dnp.isinf(WEAK), False),
    "isposinf": (lambda: dnp.isposinf(WEAK), False),
    "isclose": (lambda: dnp.isclose(WEAK, 2), False),
    "isin": (lambda: dnp.isin(WEAK, 2), False),
    "array_equal": (lambda: dnp.array_equal(WEAK, 2), False),
    "signbit": (lambda: dnp.signbit(WHOLE), False),
    "all": (lambda: dnp.all(TRUE), False),
    "method any": (lambda: TRUE.any(), False),
    "astype": (lambda: WEAK.astype(bool), False),
    "where": (lambda: dnp.where(True, TRUE, TRUE), False),
    "square root": (lambda: dnp.sqrt(TRUE), False),
    "angle of a real number": (lambda: dnp.angle(WEAK), False),
    "ediff1d": (lambda: dnp.ediff1d(WEAK, WEAK), False),
    "logaddexp2 with a boolean": (lambda: dnp.logaddexp2(dnp.ones(2, bool), 1), False),
    "logaddexp2": (lambda: dnp.logaddexp2(WEAK, 1), True),
    "gcd with a boolean": (lambda: dnp.gcd(dnp.ones(2, bool), 1), False),
    "gcd": (lambda: dnp.gcd(WHOLE, 2), True),
    "polyval": (lambda: dnp.polyval(dnp.ones(2, bool), 1), False),
}


@pytest.mark.parametrize("case", RESULTS)
def test_whether_results_are_weak(case: str) -> None:
    result, weak = RESULTS[case]
    assert result().weak_type is weak


def test_weak_booleans_are_booleans_to_promotion() -> None:
    assert (TRUE * dnp.ones(2, np.int8)).dtype == np.int8
    assert (TRUE + 1).dtype == np.int32
    assert (TRUE + 1).weak_type
    assert dnp.result_type(TRUE, np.int8) == np.int8


def test_loops_carry_weak_booleans() -> None:
    def step(carry: Any, x: Any) -> tuple[Any, Any]:
        return x < WEAK, carry

    last, seen = lax.scan(step, np.bool_(True), dnp.arange(4.0))
    assert not last
    assert seen.tolist() == [True, True, True, False]
    assert not lax.while_loop(lambda go: go, lambda go: WEAK < 0, np.bool_(True))


def test_conditions_of_numpy() -> None:
    assert dnp.where(np.array([True, False]), 1, dnp.zeros(2, int)).tolist() == [1, 0]
