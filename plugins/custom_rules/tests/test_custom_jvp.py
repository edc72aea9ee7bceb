"""Rules of forward mode: values in both modes and of second order, arguments of all kinds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail.custom_derivatives import SymbolicZero, zero_from_primal
from dovetail.test_util import check_grads


def twice(x: Any) -> Any:
    """Sine whose rule says twice its derivative, so that its use can be seen."""

    @dt.custom_jvp
    def f(x: Any) -> Any:
        return dnp.sin(x)

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        return f(*primals), 2 * dnp.cos(primals[0]) * tangents[0]

    return f(x)


XS = np.linspace(0.1, 1.1, 4, dtype=np.float32)
DERIVATIVES: list[Callable[[Any], Any]] = [
    dt.grad(twice),
    dt.jit(dt.grad(twice)),
    dt.grad(dt.jit(twice)),
    lambda x: dt.jvp(twice, (x,), (1.0,))[1],
    lambda x: dt.jit(lambda y: dt.jvp(twice, (y,), (1.0,))[1])(x),
    lambda x: dt.jvp(dt.jit(twice), (x,), (1.0,))[1],
    lambda x: dt.linearize(twice, x)[1](1.0),
    lambda x: dt.vjp(twice, x)[1](1.0)[0],
    dt.jacfwd(twice),
    dt.jacrev(twice),
    dt.grad(dt.checkpoint(twice)),
    lambda x: dt.grad(lambda y: dt.lax.scan(lambda c, _: (twice(c), None), y, None, length=1)[0])(
        x
    ),
    lambda x: dt.grad(lambda y: dt.lax.cond(y > 0, twice, twice, y))(x),
]


@pytest.mark.parametrize("derivative", DERIVATIVES)
def test_first_derivative_is_the_rules(derivative: Callable[[Any], Any]) -> None:
    np.testing.assert_allclose(derivative(0.6), 2 * np.cos(0.6), rtol=1e-6)


def test_under_vmap_inside_and_outside() -> None:
    want = 2 * np.cos(XS)
    np.testing.assert_allclose(dt.vmap(dt.grad(twice))(XS), want, rtol=1e-6)
    np.testing.assert_allclose(dt.grad(lambda x: dt.vmap(twice)(x).sum())(XS), want, rtol=1e-6)
    np.testing.assert_allclose(dt.jit(dt.vmap(dt.grad(twice)))(XS), want, rtol=1e-6)
    _, t = dt.jvp(dt.vmap(twice), (XS,), (np.ones_like(XS),))
    np.testing.assert_allclose(t, want, rtol=1e-6)


def test_second_derivative_is_the_rules_derivative() -> None:
    for second in (
        dt.grad(dt.grad(twice)), dt.hessian(twice), dt.jacfwd(dt.grad(twice)),
        dt.jacrev(dt.jacfwd(twice)), dt.jit(dt.grad(dt.grad(twice))),
    ):  # fmt: skip
        np.testing.assert_allclose(second(0.6), -2 * np.sin(0.6), rtol=1e-5)


def test_a_right_rule_agrees_with_finite_differences() -> None:
    @dt.custom_jvp
    def f(x: Any, y: Any) -> Any:
        return dnp.sin(x) * y, {"s": (x * y).sum()}

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x, y), (s, t) = primals, tangents
        return f(x, y), (
            dnp.cos(x) * s * y + dnp.sin(x) * t,
            {"s": (s * y + x * t).sum()},
        )

    check_grads(f, (XS, XS + 1), order=2, modes=("fwd", "rev"), atol=1e-2, rtol=1e-2)


def test_defjvps_adds_over_arguments() -> None:
    @dt.custom_jvp
    def f(x: Any, y: Any) -> Any:
        return x * y

    f.defjvps(lambda t, ans, x, y: 10 * t * y, None)
    assert dt.grad(f, (0, 1))(2.0, 3.0) == (30.0, 0.0)
    f.defjvps(lambda t, ans, x, y: t * y, lambda t, ans, x, y: t * ans)
    assert dt.jvp(f, (2.0, 3.0), (1.0, 1.0)) == (6.0, 9.0)


def test_defjvps_gives_zeros_as_arrays() -> None:
    seen: list[Any] = []
    f = dt.custom_jvp(lambda x, y: x * y)
    f.defjvps(lambda t, ans, x, y: t * y, lambda t, ans, x, y: seen.append(t) or t * x)
    np.testing.assert_allclose(dt.grad(f)(2.0, 3.0), 3.0)
    assert [np.shape(t) for t in seen] == [()] and float(seen[0]) == 0.0


def test_nondiff_arguments_come_first_and_may_be_functions() -> None:
    @partial(dt.custom_jvp, nondiff_argnums=(0, 2))
    def apply(f: Any, x: Any, n: Any) -> Any:
        return f(x) * n

    @apply.defjvp
    def rule(f: Any, n: Any, primals: Any, tangents: Any) -> Any:
        assert f is dnp.sin
        return apply(f, *primals, n), n * 10 * tangents[0]

    g = lambda x: apply(dnp.sin, x, 2)  # noqa: E731
    assert dt.grad(g)(1.0) == 20.0 and dt.jit(dt.grad(g))(1.0) == 20.0
    np.testing.assert_allclose(dt.vmap(dt.grad(g))(XS), [20.0] * 4)
    np.testing.assert_allclose(dt.grad(lambda x: dt.vmap(g)(x).sum())(XS), [20.0] * 4)


def test_nondiff_arguments_may_be_traced_values() -> None:
    @partial(dt.custom_jvp, nondiff_argnames="n")
    def times(x: Any, n: Any) -> Any:
        return x * n

    @times.defjvp
    def rule(n: Any, primals: Any, tangents: Any) -> Any:
        return times(*primals, n), 10 * n * tangents[0]

    slope = lambda n: dt.grad(times)(1.0, n)  # noqa: E731
    assert slope(3.0) == 30.0 and dt.jit(slope)(3.0) == 30.0
    assert dt.grad(dt.jit(times))(1.0, 3.0) == 30.0
    np.testing.assert_allclose(dt.vmap(slope)(XS), 10 * XS, rtol=1e-6)
    assert dt.grad(times)(1.0, n=3) == 30.0


def test_symbolic_zeros_tell_what_is_not_perturbed() -> None:
    seen: list[tuple[bool, ...]] = []

    @dt.custom_jvp
    def f(x: Any, y: Any) -> Any:
        return x * y, x

    @partial(f.defjvp, symbolic_zeros=True)
    def rule(primals: Any, tangents: Any) -> Any:
        (x, y), (s, t) = primals, tangents
        seen.append((isinstance(s, SymbolicZero), isinstance(t, SymbolicZero)))
        zero = [u for u in (s, t) if isinstance(u, SymbolicZero)]
        assert all(z.shape == () and z.dtype == np.float32 for z in zero)
        return f(x, y), (s * y if t in zero else t * x, s)

    assert dt.grad(lambda x: f(x, 3.0)[0])(2.0) == 3.0
    assert dt.grad(lambda y: f(2.0, y)[0])(3.0) == 2.0
    assert dt.jit(dt.grad(lambda y: f(2.0, y)[0]))(3.0) == 2.0
    assert set(seen) == {(False, True), (True, False)}


def test_integers_have_float0_tangents() -> None:
    @dt.custom_jvp
    def f(x: Any, i: Any) -> Any:
        return x * i, i + 1

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        assert tangents[1].dtype == dt.float0 and tangents[1].shape == ()
        x, i = primals
        return f(x, i), (tangents[0] * i * 10, np.zeros((), dt.float0))

    assert dt.grad(lambda x: f(x, 3)[0])(2.0) == 30.0
    assert dt.jit(dt.grad(lambda x, i: f(x, i)[0]))(2.0, 3) == 30.0
    out, t = dt.jvp(f, (2.0, 3), (1.0, np.zeros((), dt.float0)))
    assert out == (6.0, 4) and t[0] == 30.0 and t[1].dtype == dt.float0


def test_pytrees_defaults_and_keywords() -> None:
    class Pair(NamedTuple):
        a: Any
        b: Any

    @dt.custom_jvp
    def f(p: Pair, scale: float = 2.0, *, _unused: None = None) -> Any:
        return Pair(p.a * scale, {"b": p.b})

    @dt.custom_jvp
    def g(p: Pair, scale: float = 2.0) -> Any:
        return Pair(p.a * scale, {"b": p.b})

    @g.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (p, s), (t, _) = primals, tangents
        return g(p, s), Pair(7 * t.a, {"b": t.b})

    p = Pair(1.0, 2.0)
    assert dt.grad(lambda q: g(q).a)(p) == Pair(7.0, 0.0)
    assert dt.grad(lambda q: g(q, scale=3.0).a)(p) == Pair(7.0, 0.0)
    assert dt.jit(dt.grad(lambda q: g(scale=3.0, p=q).a))(p) == Pair(7.0, 0.0)
    f.defjvp(rule)
    assert f(p) == g(p) and dt.grad(lambda q: f(q).a)(p) == Pair(7.0, 0.0)
    with pytest.raises(TypeError, match="keyword-only argument '_unused' has no position"):
        f(p, _unused=None)


def test_empty_arrays() -> None:
    g = dt.grad(lambda x: dt.vmap(twice)(x).sum())
    assert g(np.zeros((0,), np.float32)).shape == (0,)
    assert g(np.zeros((0,), np.float32)).dtype == np.float32


def test_python_conditions_see_values_where_all_are_known() -> None:
    @dt.custom_jvp
    def f(x: Any) -> Any:
        return dnp.sin(x) if x > 0 else dnp.cos(x)

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        return f(*primals), (2 if primals[0] > 0 else 3) * tangents[0]

    assert dt.grad(f)(1.0) == 2.0 and dt.jvp(f, (-1.0,), (1.0,))[1] == 3.0


def test_zero_from_primal() -> None:
    assert zero_from_primal(2.0) == 0.0
    assert zero_from_primal(np.int32(2)).dtype == dt.float0
    zero = zero_from_primal(dnp.ones((2,), dnp.int32), symbolic_zeros=True)
    assert isinstance(zero, SymbolicZero) and zero.shape == (2,) and zero.dtype == dt.float0


def test_methods_can_be_custom_functions() -> None:
    class Model:
        @dt.custom_jvp
        def f(x: Any) -> Any:
            return x * 1.0

        scale = 3.0

    Model.f.defjvp(lambda p, t: (p[0] * 1.0, 5 * t[0]))
    assert dt.grad(Model.f)(1.0) == 5.0


def test_lin_gives_the_result_and_its_linear_map() -> None:
    calls = {"rule": 0, "linear": 0}

    @dt.custom
    def f(x: Any, y: Any) -> Any:
        return dnp.sin(x) * y

    @f.def_lin
    def rule(x: Any, y: Any) -> Any:
        calls["rule"] += 1
        c, s = dnp.cos(x), dnp.sin(x)

        def linear(tx: Any, ty: Any) -> Any:
            calls["linear"] += 1
            return 2 * c * y * tx + s * ty

        return f(x, y), linear

    want = 2 * np.cos(0.5) * 3, np.sin(0.5)
    np.testing.assert_allclose(dt.grad(f, (0, 1))(0.5, 3.0), want, rtol=1e-6)
    assert calls == {"rule": 1, "linear": 1}
    np.testing.assert_allclose(dt.jvp(f, (0.5, 3.0), (1.0, 0.0))[1], want[0], rtol=1e-6)
    np.testing.assert_allclose(dt.jit(dt.grad(f, (0, 1)))(0.5, 3.0), want, rtol=1e-6)
    np.testing.assert_allclose(dt.grad(dt.grad(f))(0.5, 3.0), -6 * np.sin(0.5), rtol=1e-6)


def test_results_that_hold_none() -> None:
    @dt.custom_jvp
    def f(x: Any) -> Any:
        return {"a": 2 * x["x"], "n": None}

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        return f(*primals), {"a": 9 * tangents[0]["x"], "n": None}

    def g(x: Any) -> Any:
        return f({"x": x, "n": None})["a"]

    assert dt.grad(g)(1.0) == dt.jit(dt.grad(g))(1.0) == 9
