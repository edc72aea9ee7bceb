"""Functions that are one compiled call when evaluated, and, if shared, one call of a program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_core import axis_env, config, stage_closed, typeof
from dovetail_core.ir.programs import open_program
from dovetail_jit import fused, jit, jit_p, make_jaxpr

X = np.linspace(0.1, 1.0, 3, dtype=np.float32)
traced: list[Any] = []


@fused(static=("power",), shared=True)
def powers(x: Any, y: Any, power: int) -> Any:
    traced.append(typeof(x))
    out = y
    for _ in range(power):
        out = lax.mul(out, lax.log(x))
    return {"out": out}


@pytest.fixture(autouse=True)
def forget():
    traced.clear()


def _calls(program: Any) -> list[Any]:
    return [e for e in program.eqns if e.primitive is jit_p]


def test_calls_of_a_shared_function_have_one_program_for_types_and_statics():
    def f(x: Any, z: Any) -> Any:
        a, b = powers(x, 2.0, 2)["out"], powers(x, x, 2)["out"]
        return lax.add(lax.add(a, b), lax.add(powers(x, x, 2)["out"], powers(x, x, 3)["out"])), z

    calls = _calls(make_jaxpr(f)(X, 1.0))
    one, two, three, four = (e.params["jaxpr"] for e in calls)
    assert [e.params["name"] for e in calls] == ["powers"] * 4
    assert two is three and one is not two and len(open_program(four).eqns) > len(two.eqns)
    assert len(traced) == 3
    np.testing.assert_allclose(jit(f)(X, 1.0)[0], np.log(X) ** 2 * (2 + 2 * X) + X * np.log(X) ** 3)


def test_operations_of_a_shared_function_are_where_it_is_called():
    with config.option("debug_nans")(True):
        for x in (X - 1.0, X - 2.0):
            f = jit(lambda x: powers(x, x, 1)["out"])
            with pytest.raises(FloatingPointError, match=r"log at .*test_fused\.py:\d+ "):
                f(x)
    program = _calls(make_jaxpr(lambda x: powers(x, x, 1)["out"])(X))[0].params["jaxpr"]
    assert all(e.source is None for e in program.eqns)


def test_what_a_trace_knows_stays_known():
    def f(x: Any) -> Any:
        return powers(X, x, 1)["out"]

    assert not _calls(make_jaxpr(f)(X))
    np.testing.assert_allclose(jit(f)(X), X * np.log(X), rtol=1e-6)


def test_a_shared_function_is_evaluated_by_one_call():
    for _ in range(3):
        np.testing.assert_allclose(powers(X, X, 2)["out"], X * np.log(X) ** 2, rtol=1e-6)
    assert len(traced) <= 1 and axis_env() is not None
    assert stage_closed(lambda x: [powers(x, x, 2)["out"]], [typeof(X)]).eqns[0].primitive is jit_p
