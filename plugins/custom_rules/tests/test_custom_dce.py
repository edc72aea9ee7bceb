"""Rules of dead-code elimination, through jvp, linearization, transposition and vmap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail_core import ClosedJaxpr, check_jaxpr, dce_closed, stage_closed
from dovetail_core.ir.programs import subprograms

XS = np.linspace(0.1, 1.1, 4, dtype=np.float32)


def kernel() -> Any:
    """Two results, ``exp`` and ``tan``; the rule computes only what is used."""

    @dt.custom_dce
    def f(x: Any, y: Any) -> Any:
        return dnp.exp(x) * y, dnp.tan(x)

    @f.def_dce
    def rule(used: Any, x: Any, y: Any) -> Any:
        return (dnp.exp(x) * y if used[0] else None, dnp.tan(x) if used[1] else None)

    return f


def operations(program: ClosedJaxpr) -> set[str]:
    """Names of what a program does at last: calls inlined, nothing removed any more."""
    result: set[str] = set()
    for eqn in program.eqns:
        if eqn.primitive.anonymous:
            run: Any = eqn.primitive.decomposition
            result |= operations(
                stage_closed(
                    lambda *xs, run=run, eqn=eqn: run(*xs, **eqn.params),
                    [v.aval for v in eqn.invars],
                )
            )
            continue
        result.add(eqn.primitive.name)
        for inner in subprograms(eqn.params):
            assert isinstance(inner, ClosedJaxpr)
            result |= operations(inner)
    return result


def reduced(f: Callable[..., Any], *args: Any) -> ClosedJaxpr:
    program = dt.make_jaxpr(f)(*args)
    check_jaxpr(program)
    left, _ = dce_closed(program, [True] * len(program.out_avals), True)
    check_jaxpr(left)
    return left


def first(x: Any, f: Any) -> Any:
    return f(x, 2.0)[0]


def pushed(x: Any, f: Any) -> Any:
    return dt.jvp(lambda y: first(y, f), (x,), (dnp.ones_like(x),))[1]


def linearized(x: Any, f: Any) -> Any:
    return dt.linearize(lambda y: first(y, f), x)[1](dnp.ones_like(x))


def gradient(x: Any, f: Any) -> Any:
    return dt.grad(lambda y: first(y, f))(x)


USES: list[Callable[[Any, Any], Any]] = [
    first,
    pushed,
    linearized,
    gradient,
    lambda x, f: dt.grad(dt.jit(lambda y: first(y, f)))(x),
    lambda x, f: dt.jvp(dt.jit(lambda y: first(y, f)), (x,), (1.0,))[1],
    lambda x, f: dt.grad(dt.grad(lambda y: first(y, f)))(x),
    lambda x, f: dt.jvp(lambda y: gradient(y, f), (x,), (1.0,))[1],
    lambda x, f: dt.grad(dt.checkpoint(lambda y: first(y, f)))(x),
    lambda x, f: dt.jacfwd(lambda y: first(y, f))(x),
    lambda x, f: dt.hessian(lambda y: first(y, f))(x),
    lambda x, f: dt.grad(
        lambda y: dt.lax.scan(lambda c, _: (c + first(y, f), None), 0.0, None, length=2)[0]
    )(x),
    lambda x, f: dt.lax.cond(x > 0, lambda y: gradient(y, f), lambda y: y, x),
]


def without_rule(x: Any, y: Any) -> Any:
    return dnp.exp(x) * y, dnp.tan(x)


@pytest.mark.parametrize("use", USES)
def test_only_what_is_used_is_computed(use: Callable[[Any, Any], Any]) -> None:
    result = operations(reduced(lambda x: use(x, kernel()), 0.3))
    assert "tan" not in result and "exp" in result
    np.testing.assert_allclose(use(0.3, kernel()), use(0.3, without_rule), rtol=1e-5)
    jitted = dt.jit(lambda x: use(x, kernel()))(0.3)
    np.testing.assert_allclose(jitted, use(0.3, without_rule), rtol=1e-5)


@pytest.mark.parametrize("use", USES[:4])
def test_under_vmap(use: Callable[[Any, Any], Any]) -> None:
    f = kernel()
    inside = reduced(lambda xs: dt.vmap(lambda x: use(x, f))(xs), XS)
    assert "tan" not in operations(inside)
    outside = reduced(
        lambda xs: use(xs, lambda x, y: dt.vmap(f, (0, None))(x, y)) if use is first
        else dt.grad(lambda v: dt.vmap(f, (0, None))(v, 2.0)[0].sum())(xs), XS
    )  # fmt: skip
    assert "tan" not in operations(outside)
    want = dt.vmap(lambda x: use(x, without_rule))(XS)
    np.testing.assert_allclose(dt.jit(dt.vmap(lambda x: use(x, f)))(XS), want, rtol=1e-5)


def test_the_rule_sees_the_results_structure_and_static_arguments_first() -> None:
    seen: list[Any] = []

    def f(x: Any, scale: Any, y: Any) -> Any:
        return {"a": x * scale, "b": (y, [x, y])}

    g = dt.custom_dce(f, static_argnums=(1,))

    @g.def_dce
    def rule(scale: Any, used: Any, x: Any, y: Any) -> Any:
        seen.append((scale, used))
        return {"a": None, "b": (y if used["b"][0] else None, None)}

    assert dt.jit(lambda x, y: g(x, "static" and 3, y)["b"][0])(1.0, 2.0) == 2.0
    assert seen == [(3, {"a": False, "b": (True, [False, False])})]


def test_eager_calls_do_not_use_the_rule() -> None:
    f = dt.custom_dce(lambda x: (x, x))
    f.def_dce(lambda used, x: 1 / 0)
    assert f(1.0)[0] == 1.0
    assert dt.grad(lambda x: f(x)[0])(1.0) == 1.0


def test_operands_that_the_rule_does_not_use_are_dropped() -> None:
    program = dt.make_jaxpr(lambda x, y: kernel()(x, y)[1])(1.0, 2.0)
    left, needed = dce_closed(program, [True])
    assert needed == [True, False] and len(left.in_avals) == 1
    program = dt.make_jaxpr(lambda x, y: kernel()(x, dnp.sin(y))[1])(1.0, 2.0)
    assert "sin" not in operations(dce_closed(program, [True])[0])


def test_repeated_elimination_of_what_remains() -> None:
    seen: list[Any] = []
    f = dt.custom_dce(lambda x, y, z: (x * 2.0, y * 2.0, z * 2.0))

    @f.def_dce
    def rule(used: Any, *args: Any) -> Any:
        seen.append(used)
        return tuple(a * 2.0 if u else None for a, u in zip(args, used))

    program = dt.make_jaxpr(f)(1.0, 2.0, 3.0)
    twice, needed = dce_closed(program, [True, True, False])
    assert needed == [True, True, False]
    once, needed = dce_closed(twice, [False, True])
    assert needed == [False, True] and len(once.eqns) == 1
    assert seen == [(True, True, False), (False, True, False)]
    check_jaxpr(once)


def test_what_remains_is_reduced_plainly_where_the_rule_would_need_more() -> None:
    f = dt.custom_dce(lambda x, y: (x * 2.0, x * 3.0, y))

    @f.def_dce
    def rule(used: Any, x: Any, y: Any) -> Any:
        if sum(used) == 2:
            return x * 2.0, x * 3.0, None
        return x * y, x * 3.0, None  # of fewer results it asks for more operands

    twice, needed = dce_closed(dt.make_jaxpr(f)(1.0, 2.0), [True, True, False])
    assert needed == [True, False]
    once, needed = dce_closed(twice, [True, False])
    assert needed == [True] and "mul" in operations(once)


def test_a_rule_may_call_the_function_itself() -> None:
    f = dt.custom_dce(lambda x: (dnp.exp(x), dnp.tan(x)))

    @f.def_dce
    def rule(used: Any, x: Any) -> Any:
        a, b = f(x)
        return a if used[0] else None, b if used[1] else None

    np.testing.assert_allclose(dt.jit(lambda x: f(x)[0])(0.5), np.exp(0.5), rtol=1e-6)
    np.testing.assert_allclose(dt.jit(dt.grad(lambda x: f(x)[0]))(0.5), np.exp(0.5), rtol=1e-6)


def test_closed_over_constants_are_dropped_when_unused() -> None:
    big = dnp.arange(5.0)
    f = dt.custom_dce(lambda x: (x * 2.0, big.sum() + x))
    f.def_dce(lambda u, x: (x * 2.0 if u[0] else None, big.sum() + x if u[1] else None))
    program = dt.make_jaxpr(lambda x: f(x)[0])(1.0)
    assert len(program.consts) == 1
    assert len(dce_closed(program, [True])[0].consts) == 0
    assert dt.jit(lambda x: f(x)[1])(1.0) == 11.0


def test_the_rule_may_return_less_batched_results_than_the_body() -> None:
    f = dt.custom_dce(lambda x, y: (x + y, x * y))
    f.def_dce(lambda used, x, y: (y if used[0] else None, x * y if used[1] else None))
    mapped = dt.vmap(lambda x: f(x, 2.0)[0])
    np.testing.assert_allclose(mapped(XS), XS + 2)
    np.testing.assert_allclose(dt.jit(mapped)(XS), [2.0] * 4)  # the rule's word counts


def test_derivative_rules_outlive_elimination() -> None:
    f = kernel()
    f.def_vjp(lambda x, y: (f(x, y), x), lambda x, ct: (10 * ct[0] + 100 * ct[1], None))

    def one(x: Any) -> Any:
        program = dt.make_jaxpr(lambda v: f(v, 2.0)[0])(x)
        left, _ = dce_closed(program, [True], True)
        from dovetail_core import eval_jaxpr

        return eval_jaxpr(left.jaxpr, left.consts, x)[0]

    assert dt.grad(one)(0.5) == 10.0
    assert dt.jit(dt.grad(lambda x: f(x, 2.0)[1]))(0.5) == 100.0


def test_rules_may_use_references() -> None:
    def body(x: Any) -> Any:
        ref = dt.new_ref(x)
        dt.lax.fori_loop(0, 2, lambda i, c: ref.__setitem__(..., ref[...] * 2), None)
        return dt.freeze(ref), ref_free(x)

    def ref_free(x: Any) -> Any:
        return x * 3

    f = dt.custom_dce(body)
    f.def_dce(lambda used, x: tuple(y if u else None for u, y in zip(used, body(x))))
    for k, factor in enumerate((4, 3)):
        np.testing.assert_allclose(dt.jit(lambda x, k=k: f(x)[k])(XS), factor * XS)
        np.testing.assert_allclose(dt.jit(dt.vmap(lambda x, k=k: f(x)[k]))(XS), factor * XS)


ORDERS: dict[str, Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    "grad": dt.grad,
    "jit(grad)": lambda f: dt.jit(dt.grad(f)),
    "grad(jit)": lambda f: dt.grad(dt.jit(f)),
    "grad(checkpoint)": lambda f: dt.grad(dt.checkpoint(f)),
    "jit(jvp)": lambda f: dt.jit(lambda x: dt.jvp(f, (x,), (np.float32(1),))[1]),
    "jit(vmap(grad))": lambda f: lambda x: dt.jit(dt.vmap(dt.grad(f)))(x[None])[0],
    "grad(scan)": lambda f: dt.grad(
        lambda x: dt.lax.scan(lambda c, _: (c + f(x), None), 0.0, None, length=1)[0]
    ),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("mapped", [False, True])
def test_a_function_in_the_body_is_differentiated_by_its_rule_on_a_reference(
    mapped: bool, order: str
) -> None:
    def forward(x: Any, ref: Any) -> Any:
        ref[...] += 2.0
        return x * x, (x, ref)

    squared = dt.custom_vjp(lambda x, ref: forward(x, ref)[0])
    squared.defvjp(forward, lambda kept, ct: (10.0 * ct * kept[0] * kept[1][...], None))

    def body(x: Any) -> Any:
        ref = dt.new_ref(np.ones(2, np.float32) if mapped else np.ones((), np.float32))
        if mapped:
            return dt.vmap(squared)(dnp.stack([x, x]), ref)[1] + ref[1], x
        return squared(x, ref) + ref[...], x

    f = dt.custom_dce(body)
    f.def_dce(lambda used, x: tuple(y if u else None for u, y in zip(used, body(x))))
    x = np.float32(0.5)
    assert dt.jit(lambda x: f(x)[0])(x) == 0.25 + 3
    assert ORDERS[order](lambda x: f(x)[0])(x) == 10 * 0.5 * 3
