"""What a loop carries and never changes is a constant of the loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad, jvp
from dovetail_batching import vmap
from dovetail_jit import jit, make_jaxpr
from dovetail_numpy import asarray

XS = np.arange(3, dtype=np.float32)


def power(a: Any) -> Any:
    """``a**3``: the second value stays."""
    return lax.scan(lambda c, _: ((c[0] * c[1], c[1]), c[1]), (1.0, a), None, length=3)


def counted(a: Any) -> Any:
    """``a`` five times around: no result depends on the number of rounds."""
    return lax.while_loop(lambda v: v[0] < 5, lambda v: (v[0] + 1, v[1]), (0, a))[1]


def test_it_is_an_operand_of_the_loop_and_a_result_of_the_program() -> None:
    program = make_jaxpr(lambda a: power(a))(2.0)
    (eqn,) = [e for e in program.jaxpr.eqns if e.primitive.name == "scan"]
    assert (eqn.params["num_consts"], eqn.params["num_carry"]) == (1, 1)
    assert program.jaxpr.outvars[1] is program.jaxpr.invars[0]
    (eqn,) = make_jaxpr(counted)(2.0).jaxpr.eqns
    assert (eqn.params["body_nconsts"], len(eqn.outvars)) == (1, 1)


def test_a_while_loop_is_differentiated_with_respect_to_it() -> None:
    assert float(grad(counted)(2.0)) == 1
    assert float(grad(lambda a: counted(a * a))(3.0)) == 6


def test_values_and_derivatives() -> None:
    (last, kept), seen = power(asarray(2.0))
    assert (float(last), float(kept), seen.tolist()) == (8, 2, [2, 2, 2])
    assert float(grad(lambda a: power(a)[0][0])(2.0)) == pytest.approx(12)
    assert float(jvp(lambda a: power(a)[0][0], (2.0,), (1.0,))[1]) == pytest.approx(12)
    assert vmap(lambda a: power(a)[0][0])(XS).tolist() == [0, 1, 8]


def test_what_the_condition_looks_at_stays_and_so_does_what_moves() -> None:
    def swapped(n: Any, a: Any, b: Any) -> Any:
        return lax.while_loop(
            lambda v: v[0] < v[1], lambda v: (v[0] + 1, v[1], v[3], v[2]), (0, n, a, b)
        )

    assert [float(x) for x in jit(swapped)(3, 1.0, 2.0)] == [3, 3, 2, 1]


def test_one_value_twice_and_closed_over() -> None:
    @jit
    def run(a: Any) -> Any:
        return lax.scan(
            lambda c, x: ((c[0], c[1], c[2] + c[0] * c[1] * a * x), None), (a, a, 0.0), XS
        )[0]

    assert [float(x) for x in run(2.0)] == [2, 2, 24]


def test_loops_of_which_nothing_moves() -> None:
    assert jit(lambda a: lax.scan(lambda c, x: (c, c + x), a, XS))(1.0)[1].tolist() == [1, 2, 3]
    assert float(jit(lambda a: lax.while_loop(lambda _: False, lambda v: v, a))(1.0)) == 1
