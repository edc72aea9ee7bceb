"""One function with all rules under every order of transformations up to depth 3.

Each rule marks its operand, so that its uses can be counted in the program that results: no rule
is lost, and none is used twice. Values are those of the function without rules.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail.custom_batching import custom_vmap
from dovetail.custom_derivatives import SymbolicZero
from dovetail_backends import evaluate, reference_rules
from dovetail_core import (
    ClosedJaxpr,
    Primitive,
    dce_closed,
    eval_jaxpr,
    registry,
    stage_closed,
)
from dovetail_core.ir.programs import subprograms

mark_p = Primitive("test_orders.mark")
mark_p.def_abstract_eval(lambda x, *, rule: x)
registry().table("ad.jvp").set(mark_p, lambda p, t, *, rule: (mark_p.bind(*p, rule=rule), t[0]))
registry().table("batching.batch").set(
    mark_p, lambda axis, xs, dims, *, rule: (mark_p.bind(*xs, rule=rule), dims[0])
)
reference_rules.set(mark_p, lambda x, *, rule: x)
mark_p.def_decomposition(lambda x, *, rule: x)  # how it is lowered


def mark(x: Any, rule: str) -> Any:
    return mark_p.bind(x, rule=rule)


def make(order: str = "") -> Any:
    """Sine and cosine, with every rule; rules use the function's own results.

    They are defined on one object, or by JAX's decorators in the order of their names.
    """

    def body(x: Any) -> Any:
        x = mark(x, "body")
        return dnp.sin(x), dnp.cos(x)

    def jvp(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        s, c = f(x)
        t = t * (mark(x, "jvp") / x)
        return (s, c), (c * t, -s * t)

    def fwd(x: Any) -> Any:
        s, c = f(mark(x.value, "fwd"))
        return (s, c), (s, c, x.value)

    def bwd(residuals: Any, ct: Any) -> Any:
        s, c, x = residuals
        one = mark(x, "bwd") / x
        terms = zip(ct, (c, -s))
        return (sum(0 if isinstance(t, SymbolicZero) else t * r * one for t, r in terms),)

    def dce(used: Any, x: Any) -> Any:
        x = mark(x, "dce")
        return (dnp.sin(x) if used[0] else None), (dnp.cos(x) if used[1] else None)

    def vmap(size: int, batched: Any, x: Any) -> Any:
        x = mark(x, "vmap")
        return (dnp.sin(x), dnp.cos(x)), (True, True)

    if not order:
        f = dt.custom(body)
        f.def_jvp(jvp)
        f.def_vjp(fwd, bwd, symbolic_zeros=True)
        f.def_dce(dce)
        f.def_vmap(vmap)
        return f
    f: Any = body
    for kind in order.split():
        if kind == "jvp":
            f = dt.custom_jvp(f)
            f.defjvp(jvp)
        elif kind == "vjp":
            f = dt.custom_vjp(f)
            f.defvjp(fwd, bwd, symbolic_zeros=True)
        elif kind == "dce":
            f = dt.custom_dce(f)
            f.def_dce(dce)
        else:
            f = custom_vmap(f)
            f.def_vmap(vmap)
    return f


def plain(x: Any) -> Any:
    return dnp.sin(x), dnp.cos(x)


Function = Callable[[Any], Any]


def with_vmap(g: Function) -> Function:
    def mapped(x: Any) -> Any:
        a, b = dt.vmap(lambda y: g(y))(dnp.stack([x, 2 * x]))
        return a.sum(), b.sum()

    return mapped


def with_jvp(g: Function) -> Function:
    return lambda x: dt.jvp(lambda y: g(y), (x,), (dnp.ones_like(x),))[1]


def with_grad(g: Function) -> Function:
    """The gradients of the two results."""
    return lambda x: (dt.grad(lambda y: g(y)[0])(x), dt.grad(lambda y: g(y)[1])(x))


def with_scan(g: Function) -> Function:
    def looped(x: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            a, b = g(x)
            return (carry[0] + a, carry[1] + b), None

        start = dnp.zeros_like(x), dnp.zeros_like(x)
        return dt.lax.scan(step, start, None, length=2)[0]

    return looped


def with_dce(g: Function) -> Function:
    """Only the first result is used."""

    def reduced(x: Any) -> Any:
        program = dt.make_jaxpr(lambda y: g(y))(x)
        left, _ = dce_closed(program, [True, False], True)
        return eval_jaxpr(left.jaxpr, left.consts, x)[0], dnp.zeros_like(x)

    return reduced


LAYERS: dict[str, Callable[[Function], Function]] = {
    "jit": lambda g: dt.jit(lambda x: g(x)),
    "vmap": with_vmap,
    "jvp": with_jvp,
    "grad": with_grad,
    "remat": lambda g: dt.checkpoint(lambda x: g(x)),
    "scan": with_scan,
    "dce": with_dce,
}
X = np.float32(0.7)


def under(layers: tuple[str, ...], f: Function) -> Function:
    for name in layers:
        f = LAYERS[name](f)
    return f


def uses(program: ClosedJaxpr) -> Counter[str]:
    """How often each rule is used in a program whose dead code is gone, calls inlined."""
    result: Counter[str] = Counter()
    for eqn in program.eqns:
        if eqn.primitive is mark_p:
            result[eqn.params["rule"]] += 1
        elif eqn.primitive.anonymous:
            run: Any = eqn.primitive.decomposition
            opened = stage_closed(
                lambda *xs, run=run, eqn=eqn: run(*xs, **eqn.params), [v.aval for v in eqn.invars]
            )
            used = [True] * len(opened.out_avals)
            result += uses(dce_closed(opened, used)[0])
        else:
            for inner in subprograms(eqn.params):
                assert isinstance(inner, ClosedJaxpr)
                result += uses(inner)
    return result


def staged(layers: tuple[str, ...], f: Function) -> ClosedJaxpr:
    program = dt.make_jaxpr(under(layers, f))(X)
    return dce_closed(program, [True] * len(program.out_avals), True)[0]


STACKS = [s for d in (1, 2, 3) for s in itertools.product(LAYERS, repeat=d)]


@pytest.mark.parametrize("outer", LAYERS)
def test_values_are_those_without_rules(outer: str) -> None:
    for layers in [s for s in STACKS if s[-1] == outer]:
        got = evaluate(staged(layers, make()), X)
        want = evaluate(staged(layers, plain), X)
        np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-4, err_msg=str(layers))


def expected(layers: tuple[str, ...]) -> dict[str, int]:
    """How often each rule must be used where each transformation occurs at most once.

    There are two gradients, one per result, of which ``dce`` leaves one. What computes the
    function's own results is the dce rule where only one of them is needed, else the vmap rule
    under ``vmap``, else the body.
    """
    has = set(layers)
    gradients = 1 if "dce" in has else 2
    whole = "vmap" if "vmap" in has and "dce" not in has else "body"
    if {"grad", "jvp"} <= has:  # the second derivative of each result needs both
        return dict.fromkeys(("bwd", "fwd", "jvp", whole), gradients)
    if "grad" in has:
        # A loop that is transposed has a cotangent, zero or not, for each result of its body.
        inside = layers[: layers.index("grad")]
        both = "scan" in inside and "dce" not in inside
        return dict.fromkeys(("bwd", "fwd", whole if both else "dce"), gradients)
    own = "dce" if "dce" in has else whole
    return {"jvp": 1, own: 1} if "jvp" in has else {own: 1}


@pytest.mark.parametrize("outer", LAYERS)
def test_no_rule_is_lost_and_none_is_used_twice(outer: str) -> None:
    for layers in [s for s in STACKS if s[-1] == outer and len(set(s)) == len(s)]:
        assert dict(uses(staged(layers, make()))) == expected(layers), layers


ORDERS = [" ".join(p) for p in itertools.permutations(["jvp", "vjp", "dce", "vmap"])]


@pytest.mark.parametrize("order", ORDERS)
def test_decorators_in_any_order_give_one_behaviour(order: str) -> None:
    for layers in [("vmap",), ("jvp",), ("grad",), ("dce",), ("grad", "vmap", "dce")]:
        result, want = staged(layers, make(order)), staged(layers, make())
        assert uses(result) == uses(want)
        np.testing.assert_allclose(evaluate(result, X), evaluate(want, X), rtol=1e-5)


def test_compiled_and_eager_calls_agree() -> None:
    for layers in [("jit", "grad"), ("grad", "vmap", "jit"), ("jvp", "jit"), ("dce", "grad")]:
        got = under(layers, make())(X)
        np.testing.assert_allclose(got, under(layers, plain)(X), rtol=1e-4, err_msg=str(layers))
