"""Public functions that are one C++ call: what they do with what that call does not take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_jit import jit, jit_p, make_jaxpr
from dovetail_numpy.fusion import one_call

V = np.linspace(0.0, 3.0, 4, dtype=np.float32)
W = np.array([[4.0, 1.0], [1.0, 3.0]], np.float32)
runs: list[str] = []


@one_call("axis")
def total(x: Any, y: Any = None, axis: Any = None) -> Any:
    runs.append(type(x).__name__)
    return dnp.sum(x, axis=None if axis is None else tuple(axis))


def test_a_repeated_call_does_not_enter_the_function():
    runs.clear()
    x = dnp.asarray(W)
    assert [float(total(x, axis=(0, 1))) for _ in range(3)] == [9.0] * 3
    assert len(runs) == 1


def test_statics_that_cannot_be_hashed_are_as_good():
    np.testing.assert_array_equal(total(dnp.asarray(W), axis=[0]), [5.0, 4.0])
    np.testing.assert_array_equal(dnp.moveaxis(dnp.asarray(W), [0, 1], [1, 0]), W.T)


def test_lists_and_large_integers_reach_the_function_itself():
    runs.clear()
    with pytest.raises(TypeError, match=r"^sum requires an array .* got list"):
        total([1.0, 2.0])
    assert runs == ["list"]
    assert float(dnp.linspace(0, 2**40, 3)[-1]) == 2.0**40


def test_known_indices_are_constants_of_a_trace():
    def calls(program: Any) -> int:
        return sum(e.primitive is jit_p for e in program.eqns)

    x = dnp.asarray(V)
    assert calls(make_jaxpr(lambda x: dnp.take(x, np.array([0, 2])))(x)) == 0
    assert calls(make_jaxpr(lambda x, i: dnp.take(x, i))(x, np.array([0, 2]))) == 1


def test_errors_name_the_function_and_the_line():
    with pytest.raises(ValueError, match=r"^solve: .* at .*test_one_call\.py:\d+"):
        dnp.linalg.solve(dnp.asarray(W), dnp.asarray(V))
    with pytest.raises(ValueError, match=r"^searchsorted: side .* at .*test_one_call\.py:\d+"):
        dnp.searchsorted(dnp.asarray(V), dnp.asarray(V), side="up")
    with pytest.raises(ValueError, match=r"^solve: .* at .*test_one_call\.py:\d+"):
        jit(dnp.linalg.solve)(W, V)
