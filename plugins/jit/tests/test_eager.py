"""Operations that are evaluated at once: one compiled callable per primitive and parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_core import Primitive
from dovetail_jit import eager

X = np.ones(3, np.float32)
made: list[Any] = []  # the parameters of each program that was lowered
fill_p = Primitive("test_eager.fill")


def numbers(value: Any) -> np.ndarray[Any, Any]:
    """What the primitive computes: the parameter's number, and which type it has."""
    if isinstance(value, np.ndarray):
        return value
    (number,) = value if isinstance(value, tuple) else (value,)
    kind = [int, float, bool].index(type(number))
    return np.array([number, np.copysign(1.0, number), kind], np.float32)


@fill_p.def_abstract_eval
def _type(x: Any, *, value: Any) -> Any:
    return x


@fill_p.def_decomposition
def _fill(x: Any, *, value: Any) -> Any:
    made.append(value)
    return lax.mul(x, numbers(value))


@pytest.fixture
def fill() -> Callable[..., Any]:
    rule = eager.evaluator(fill_p)
    rule(X, value=7)  # the first of all fills tables
    made.clear()
    return eager.evaluator(fill_p)


def test_parameters_that_are_equal_to_python_are_told_apart(fill: Callable[..., Any]) -> None:
    values = [0, 0.0, -0.0, False, 1, 1.0, True, float("nan")]
    values += [(v,) for v in values]
    for value in [*values, *reversed(values)]:
        result = np.asarray(fill(X, value=value))
        assert result.tobytes() == numbers(value).tobytes(), value
    assert len(made) == len(values)


@pytest.mark.usefixtures("fill")
def test_only_so_many_callables_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eager, "KEPT", 3)
    fill = eager.evaluator(fill_p)

    def call(*values: int) -> list[int]:
        made.clear()
        for value in values:
            np.testing.assert_array_equal(fill(X, value=value), numbers(value))
        return list(made)

    assert call(1, 2, 3, 1, 2, 3) == [1, 2, 3]
    assert call(4) == [4]  # there is no room: the oldest is dropped
    assert call(4, 1, 2, 4, 1, 2) == [1, 2]
    assert call(5) == [5] and call(4) == [4]


def test_unhashable_parameters_are_compiled_each_time(fill: Callable[..., Any]) -> None:
    for k in range(2):
        value = np.full(3, k, np.float32)
        np.testing.assert_array_equal(fill(X, value=value), value)
    assert len(made) == 2
