"""The primitives of functions with one derivative rule: identity, text, parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail_core import IRError, parse_ir, print_ir, printed_constants
from dovetail_custom_rules import custom_jvp_call_p, custom_vjp_call_p


@dt.custom_jvp
def double(x: Any) -> Any:
    return x * 2


@double.defjvp
def _double_jvp(primals: Any, tangents: Any) -> Any:
    return primals[0] * 2, tangents[0] * 5


@dt.custom_vjp
def triple(x: Any) -> Any:
    return x * 3


triple.defvjp(lambda x: (x * 3, x), lambda x, ct: (ct * x,))


def calls(program: Any) -> list[Any]:
    return [e.primitive for e in program.eqns]


def test_one_primitive_for_each_mode() -> None:
    program = dt.make_jaxpr(lambda x: (double(x), triple(x), double(x)))(1.0)
    assert calls(program) == [custom_jvp_call_p, custom_vjp_call_p, custom_jvp_call_p]
    assert calls(dt.make_jaxpr(dt.vmap(double))(dnp.ones(2))) == [custom_jvp_call_p]
    both = dt.custom(lambda x: x * 2)
    both.def_jvp(lambda p, t: (p[0] * 2, t[0] * 2))
    both.def_vmap(lambda n, batched, x: (x * 2, True))
    (own,) = calls(dt.make_jaxpr(both)(1.0))
    assert own is not custom_jvp_call_p and own.name == "<lambda>"


def test_programs_are_equal_where_rules_are() -> None:
    program = dt.make_jaxpr(double)(1.0)
    text = print_ir(program)
    assert "jvp_jaxpr_fun=double#1" in text
    assert parse_ir(text, printed_constants(program)) == program
    assert dt.make_jaxpr(lambda x: double(x))(1.0) != program  # rules belong to a call
    with pytest.raises(IRError, match="constant #1 is not the parameter 'double' of a custom rule"):
        parse_ir(text, [custom_jvp_call_p, custom_vjp_call_p])
    with pytest.raises(IRError, match="constant #1 is not the parameter 'double' of a custom rule"):
        parse_ir(text, [custom_jvp_call_p])


def test_dead_calls_are_dropped() -> None:
    from dovetail_core import dce_closed

    program = dt.make_jaxpr(lambda x: (double(x), triple(x)))(1.0)
    reduced, needed = dce_closed(program, [False, True])
    assert calls(reduced) == [custom_vjp_call_p] and needed == [True]


def test_calls_by_functions() -> None:
    class Function:
        def __init__(self, f: Any) -> None:
            self.call_wrapped = f

    twice = Function(lambda x: [x * 2])
    jvp = Function(lambda x, t: [x * 2, t * 5])
    f = lambda x: custom_jvp_call_p.bind(x, subfuns=(twice, jvp), symbolic_zeros=False)[0]  # noqa: E731
    assert f(3.0) == 6 and dt.grad(f)(3.0) == 5
    fwd = Function(lambda x, differentiated: [x * 2])
    bwd = Function(lambda x, ct: [ct * x])
    trees = lambda: (None, None, [0])  # noqa: E731
    g = lambda x: custom_vjp_call_p.bind(x, subfuns=(twice, fwd, bwd), out_trees=trees)[0]  # noqa: E731
    assert g(3.0) == 6 and dt.grad(g)(3.0) == 3
    np.testing.assert_allclose(dt.vmap(dt.grad(g))(dnp.arange(3.0)), [0, 1, 2])


def test_a_parameter_that_holds_no_rule_is_refused() -> None:
    (eqn,) = dt.make_jaxpr(double)(1.0).eqns
    wrong = {**eqn.params, "jvp_jaxpr_fun": lambda: None}
    with pytest.raises(TypeError, match="its parameter 'jvp_jaxpr_fun' must be that of"):
        dt.grad(lambda x: custom_jvp_call_p.bind(x, **wrong)[0])(1.0)
