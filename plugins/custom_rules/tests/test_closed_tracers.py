"""Rules that close over a value which a transformation around the call traces.

The function closes over the same value, so that it is an operand of the call. Wherever a rule is
called later, what it closes over is that operand.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import lax
from dovetail_core import UnexpectedTracerError

XS = np.arange(1.0, 4.0, dtype=np.float32)
Make = Callable[[Any], Callable[[Any], Any]]


def by_jvp(x: Any) -> Any:
    g = dt.custom_jvp(lambda y: x * y * y)
    g.defjvp(lambda p, t: (x * p[0] * p[0], 2 * x * p[0] * t[0]))
    return g


def by_vjp(x: Any) -> Any:
    g = dt.custom_vjp(lambda y: x * y * y)
    g.defvjp(lambda y: (x * y * y, y), lambda y, ct: (2 * x * y * ct,))
    return g


class _Held:
    def __init__(self, x: Any) -> None:
        self.held = {"x": [x]}

    def backward(self, scale: float, y: Any, ct: Any) -> Any:
        return (scale * self.held["x"][0] * y * ct,)


def by_objects(x: Any) -> Any:
    """The backward function has the value by way of a method, a dictionary and a list."""
    g = dt.custom_vjp(lambda y: x * y * y)
    g.defvjp(lambda y: (x * y * y, y), partial(_Held(x).backward, 2.0))
    return g


def by_residual(x: Any) -> Any:
    """The forward function returns the value as a residual, and as a part of the result."""
    g = dt.custom_vjp(lambda y: (x, x * y * y))
    g.defvjp(lambda y: ((x, x * y * y), (x, y)), lambda r, ct: (2 * r[0] * r[1] * ct[1],))
    return lambda y: g(y)[1]


def by_linearization(x: Any) -> Any:
    g = dt.custom(lambda y: x * y * y)
    g.def_lin(lambda y: (x * y * y, lambda t: 2 * x * y * t))
    return g


AROUND: dict[str, tuple[Callable[[Make, Any], Any], float]] = {
    "vmap": (lambda m, z: dt.vmap(lambda x: m(x)(z))(XS).sum(), 6.0),
    "vmap of both": (lambda m, z: dt.vmap(lambda x, z: m(x)(z))(XS, dnp.ones(3) * z).sum(), 6.0),
    "vmap of vmap": (
        lambda m, z: dt.vmap(lambda a: dt.vmap(lambda x: m(x * a)(z))(XS).sum())(XS).sum(), 36.0
    ),
    "jit": (lambda m, z: dt.jit(lambda x, z: m(x)(z))(2.0, z), 2.0),
    "scan": (lambda m, z: lax.scan(lambda c, x: (c + m(x)(z), None), 0 * z, XS)[0], 6.0),
    "carry": (lambda m, z: lax.scan(lambda c, _: (c, m(c)(z)), 2.0, XS)[1].sum(), 6.0),
    "cond": (lambda m, z: lax.cond(z < 99, lambda x: m(x)(z), lambda x: x, 2.0), 2.0),
    "checkpoint": (lambda m, z: dt.checkpoint(lambda x: m(x)(z))(2.0), 2.0),
    "jit in vmap": (lambda m, z: dt.vmap(lambda x: dt.jit(lambda z: m(x)(z))(z))(XS).sum(), 6.0),
    "vmap in jit": (lambda m, z: dt.jit(lambda z: dt.vmap(lambda x: m(x)(z))(XS).sum())(z), 6.0),
    "library function": (lambda m, z: dt.vmap(lambda x: m(dnp.where(x > 0, x, 0))(z))(XS).sum(),
                         6.0),
}  # fmt: skip
FIRST: dict[str, Callable[[Any], Any]] = {
    "grad": lambda f: dt.grad(f)(3.0),
    "jit of grad": lambda f: dt.jit(dt.grad(f))(3.0),
    "grad of jit": lambda f: dt.grad(dt.jit(f))(3.0),
    "vmap of grad": lambda f: dt.vmap(dt.grad(f))(dnp.full(2, 3.0))[1],
    "jvp": lambda f: dt.jvp(f, (3.0,), (1.0,))[1],
    "linearize": lambda f: dt.linearize(f, 3.0)[1](1.0),
    "jacfwd": lambda f: dt.jacfwd(f)(3.0),
}


@pytest.mark.parametrize("around", AROUND.values(), ids=list(AROUND))
@pytest.mark.parametrize("make", [by_jvp, by_vjp, by_objects, by_residual, by_linearization])
def test_rules_close_over_values_that_are_traced_around_the_call(make: Any, around: Any) -> None:
    call, total = around

    def f(z: Any) -> Any:
        return call(make, z)

    assert f(3.0) == total * 9
    for slope in FIRST.values():
        np.testing.assert_allclose(slope(f), total * 6, rtol=1e-6)
    np.testing.assert_allclose(dt.grad(dt.grad(f))(3.0), total * 2, rtol=1e-6)


@pytest.mark.parametrize("around", ["jit", "scan", "carry", "cond", "checkpoint"])
def test_a_rule_of_batching_closes_over_a_value_that_is_not_mapped(around: str) -> None:
    def make(x: Any) -> Any:
        g = dt.custom_batching.custom_vmap(lambda y: x * y * y)
        g.def_vmap(lambda size, batched, y: (10 * x * y * y, True))
        return g

    call, total = AROUND[around]
    result = dt.vmap(lambda z: call(make, z))(dnp.array([1.0, 3.0]))
    np.testing.assert_allclose(result, [10 * total, 90 * total], rtol=1e-6)


def test_functions_of_the_library_take_values_that_a_rule_closes_over() -> None:
    """Which ask whether a value is alive before they bind an operation."""

    def make(x: Any) -> Any:
        def slope(y: Any) -> Any:
            first = dt.jit(lambda x, y: x * y)(x, y)
            second = lax.cond(y > 0, lambda y: x * y, lambda y: y, y)
            return first + lax.fori_loop(0, 1, lambda _, c: c + x * y - x * y, second)

        g = dt.custom_jvp(lambda y: x * y * y)
        g.defjvp(lambda p, t: (g(p[0]), slope(p[0]) * t[0]))
        return g

    for name in ("vmap", "jit", "scan", "vmap in jit"):
        call, total = AROUND[name]
        for slope in FIRST.values():
            np.testing.assert_allclose(slope(lambda z: call(make, z)), total * 6, rtol=1e-6)  # noqa: B023


@pytest.mark.parametrize("make", [by_jvp, by_vjp])
def test_a_value_that_is_differentiated_and_closed_over_is_refused(make: Any) -> None:
    with pytest.raises(UnexpectedTracerError, match="a value that the function closes over"):
        dt.grad(lambda x: make(x)(3.0))(2.0)


def test_a_value_that_the_function_does_not_close_over_is_refused() -> None:
    def f(z: Any) -> Any:
        def of(x: Any) -> Any:
            g = dt.custom_jvp(lambda y: y * y)
            g.defjvp(lambda p, t: (p[0] * p[0], x * p[0] * t[0]))
            return g(z)

        return dt.vmap(of)(XS).sum()

    with pytest.raises(UnexpectedTracerError, match="a rule of <lambda>, uses a traced value that"):
        dt.grad(f)(3.0)


def test_programs_of_rules_that_close_over_such_values_are_refused() -> None:
    """They are of the arguments alone. Programs of others are as they were."""

    def f(z: Any) -> Any:
        return lax.scan(lambda c, x: (c + by_jvp(x)(z) + unused(x)(z), None), 0 * z, XS)[0]

    def unused(x: Any) -> Any:
        g = dt.custom_jvp(lambda y: x * y)
        g.defjvp(lambda p, t: (p[0] * 3, t[0] * 3))
        return g

    scan = dt.make_jaxpr(f)(2.0).eqns[-1]
    rules = [
        e.params["jvp_jaxpr_fun"] for e in scan.params["jaxpr"].eqns if "jvp_jaxpr_fun" in e.params
    ]
    assert len(rules) == 2
    text = r"a rule of <lambda> closes over a traced value, as the function does, .*Make the value "
    with pytest.raises(UnexpectedTracerError, match=text + "an argument of <lambda>"):
        rules[0](False)
    program, consts, zeros = rules[1](False)
    assert len(program.invars) == 2 and not consts and zeros == [False]
