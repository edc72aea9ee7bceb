"""Scopes of operations name the transformations that they went through."""

from __future__ import annotations

from typing import Any

import dovetail
import dovetail.numpy as dnp
from dovetail_core import jaxpr_as_fun


def model(x: Any) -> Any:
    with dovetail.named_scope("model"):
        with dovetail.named_scope("layer"):
            y = dnp.sin(x)
        return dnp.cos(y)


def scopes(f: Any, *args: Any) -> set[str]:
    return {e.source.scope for e in dovetail.make_jaxpr(f)(*args).eqns}


FORWARD = {"jvp(model)", "jvp(model)/layer"}
BACKWARD = {"transpose(jvp(model))", "transpose(jvp(model))/layer"}


def test_of_gradients() -> None:
    x = dnp.float32(1)
    assert scopes(dovetail.grad(model), x) == FORWARD | BACKWARD
    assert scopes(lambda x: dovetail.vjp(model, x)[1](x), x) == FORWARD | BACKWARD
    assert scopes(lambda x: dovetail.jvp(model, (x,), (x,)), x) == FORWARD
    assert scopes(lambda x: dovetail.linearize(model, x)[1](x), x) == FORWARD


def test_of_gradients_within_other_transformations_and_scopes() -> None:
    xs = dnp.ones(3)
    mapped = {f"vmap({s})" for s in ("jvp(model)", "transpose(jvp(model))")}
    assert scopes(dovetail.vmap(dovetail.grad(model)), xs) == mapped | {
        f"{s}/layer" for s in mapped
    }
    named = dovetail.named_scope("outer")(dovetail.grad(model))
    assert scopes(named, xs[0]) == {f"outer/{s}" for s in FORWARD | BACKWARD}


def test_a_program_of_its_own_names_what_is_in_it_alone() -> None:
    (forward, backward) = dovetail.make_jaxpr(dovetail.grad(dovetail.jit(model)))(
        dnp.float32(1)
    ).eqns
    assert (forward.source.scope, backward.source.scope) == ("jvp()", "transpose(jvp())")
    for eqn in forward, backward:
        assert {e.source.scope for e in eqn.params["jaxpr"].eqns} == {"model", "model/layer"}


def test_a_custom_rule_has_scopes_of_its_own() -> None:
    @dovetail.custom_vjp
    def f(x: Any) -> Any:
        return dnp.sin(x)

    def backward(x: Any, ct: Any) -> Any:
        with dovetail.named_scope("backward"):
            return (dnp.cos(x) * ct,)

    f.defvjp(lambda x: (dnp.sin(x), x), backward)
    result = dovetail.make_jaxpr(dovetail.grad(dovetail.named_scope("f")(f)))(dnp.float32(1)).eqns
    named = {e.primitive.name: e.source.scope for e in result}
    assert named["sin"] == "jvp(f)" and named["cos"] == "transpose(jvp(f))/backward"


def test_a_program_that_is_run_is_in_the_scope_of_its_caller() -> None:
    program = dovetail.make_jaxpr(model)(1.0)
    again = dovetail.named_scope("outer")(lambda x: jaxpr_as_fun(program)(x))
    assert scopes(again, 1.0) == {"outer/model", "outer/model/layer"}
