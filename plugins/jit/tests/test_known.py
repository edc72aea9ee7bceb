"""``ensure_compile_time_eval``: what is known is computed, what is traced stays in the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import grad, jvp
from dovetail_batching import vmap
from dovetail_core import Tracer, get_trace
from dovetail_custom_rules import custom_jvp, custom_vjp
from dovetail_jit import ensure_compile_time_eval, jit, make_jaxpr

X = np.linspace(0.1, 1.0, 3, dtype=np.float32)
STEPS = np.arange(3, dtype=np.float32)


def is_known(x: Any) -> bool:
    return not isinstance(x, Tracer)


def test_known_values_are_computed_and_traced_ones_staged() -> None:
    @jit
    def f(x: Any) -> Any:
        with ensure_compile_time_eval():
            n = int(lax.add(np.int32(1), np.int32(2)))
            steps = dnp.arange(3.0)
            assert is_known(steps) and float(steps.sum()) == 3.0
            y = dnp.sin(x) * steps
            assert not is_known(y)
        return lax.mul(y, float(n))

    np.testing.assert_allclose(f(X), 3 * np.sin(X) * STEPS, rtol=1e-6)
    assert [e.primitive.name for e in make_jaxpr(f)(X).eqns[0].params["jaxpr"].eqns] == [
        "sin", "mul", "mul",
    ]  # fmt: skip


def product(x: Any) -> Any:
    with ensure_compile_time_eval():
        return dnp.sin(x) * dnp.sin(dnp.arange(3.0))


def looped(x: Any) -> Any:
    def body(carry: Any, step: Any) -> Any:
        with ensure_compile_time_eval():
            return carry + x * dnp.sin(step), None

    with ensure_compile_time_eval():
        return lax.scan(body, dnp.zeros(3), dnp.arange(2.0))[0]


def chosen(x: Any) -> Any:
    with ensure_compile_time_eval():
        return lax.cond(x.sum() > 0, lambda: x * 2.0, lambda: x)


def compiled(x: Any) -> Any:
    with ensure_compile_time_eval():
        three = jit(lambda y: y + 1)(2.0)
        assert is_known(three)
        return jit(lambda y: y * three)(x)


def mapped(x: Any) -> Any:
    with ensure_compile_time_eval():
        return vmap(lambda y: y * x)(dnp.ones((2, 3))).sum(0)


def closed_over(x: Any) -> Any:
    def inside(y: Any) -> Any:
        with ensure_compile_time_eval():
            return x * x + y

    return jit(inside)(1.0)


PLAIN: list[tuple[Callable[[Any], Any], Callable[[Any], Any], Callable[[Any], Any]]] = [
    (product, lambda x: np.sin(x) * np.sin(STEPS), lambda x: np.cos(x) * np.sin(STEPS)),
    (looped, lambda x: x * np.sin(1), lambda x: np.full_like(x, np.sin(1))),
    (chosen, lambda x: 2 * x, lambda x: np.full_like(x, 2)),
    (compiled, lambda x: 3 * x, lambda x: np.full_like(x, 3)),
    (mapped, lambda x: 2 * x, lambda x: np.full_like(x, 2)),
    (closed_over, lambda x: x * x + 1, lambda x: 2 * x),
]


@pytest.mark.parametrize(("f", "value", "slope"), PLAIN, ids=[f.__name__ for f, *_ in PLAIN])
def test_under_every_transformation(f: Any, value: Any, slope: Any) -> None:
    def total(x: Any) -> Any:
        return f(x).sum()

    for g in (f, jit(f), lambda x: vmap(f)(x[None])[0], jit(lambda x: vmap(f)(x[None])[0])):
        np.testing.assert_allclose(g(X), value(X), rtol=1e-5)
    for g in (
        grad(total),
        jit(grad(total)),
        grad(jit(total)),
        lambda x: vmap(grad(total))(x[None])[0],
    ):
        np.testing.assert_allclose(g(X), slope(X), rtol=1e-5)


def test_it_nests_in_itself_and_decorates() -> None:
    now = ensure_compile_time_eval()
    add = now(lambda: int(lax.add(np.int32(1), np.int32(2))))

    @jit
    def f(x: Any) -> Any:
        before = get_trace()
        with now, now:
            n = int(lax.add(np.int32(1), np.int32(2)))
        assert get_trace() is before
        y = lax.add(x, float(n))
        return lax.mul(y, float(add()))

    np.testing.assert_allclose(f(X), 3 * (X + 3))


@custom_jvp
def by_sign(x: Any) -> Any:
    return x * 2.0 if x > 0 else x * 3.0


@by_sign.defjvp
def _(primals: Any, tangents: Any) -> tuple[Any, Any]:
    return by_sign(*primals), tangents[0] * (7.0 if primals[0] > 0 else 9.0)


@custom_vjp
def by_sign_back(x: Any) -> Any:
    return x * 2.0 if x > 0 else x * 3.0


by_sign_back.defvjp(lambda x: (by_sign_back(x), x), lambda x, ct: (ct * (7.0 if x > 0 else 9.0),))


@pytest.mark.parametrize("f", [by_sign, by_sign_back])
def test_custom_rules_see_what_is_known(f: Any) -> None:
    def value(x: Any) -> Any:
        with ensure_compile_time_eval():
            return x * f(2.0)

    def slope(x: Any) -> Any:
        with ensure_compile_time_eval():
            return x * grad(f)(2.0)

    def through(x: Any) -> Any:
        with ensure_compile_time_eval():
            return f(x)

    assert float(jit(value)(1.0)) == float(grad(value)(1.0)) == float(jit(grad(value))(1.0)) == 4
    assert float(jit(slope)(1.0)) == float(grad(slope)(1.0)) == float(jit(grad(slope))(1.0)) == 7
    assert float(grad(through)(1.0)) == 7 and float(grad(through)(-1.0)) == 9


def test_programs_of_other_backends_run_there() -> None:
    double = jit(lambda x: lax.mul(x, 2.0), backend="reference")

    def f(x: Any) -> Any:
        with ensure_compile_time_eval():
            return lax.mul(x, double(3.0))

    assert float(jit(f)(1.0)) == 6
    with pytest.raises(TypeError, match="jitted for backend 'reference', is called under"):
        jit(ensure_compile_time_eval()(double))(1.0)


def test_forward_mode_goes_through() -> None:
    out, tangent = jvp(product, (X,), (np.ones_like(X),))
    np.testing.assert_allclose(out, np.sin(X) * np.sin(STEPS), rtol=1e-6)
    np.testing.assert_allclose(tangent, np.cos(X) * np.sin(STEPS), rtol=1e-6)


def test_the_program_is_what_was_staged() -> None:
    @jit
    def f(x: Any) -> Any:
        with ensure_compile_time_eval():
            return lax.mul(x, 2.0)

    assert "mul" in str(f.trace(X).jaxpr)
