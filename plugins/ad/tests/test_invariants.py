"""Residuals of loops: what is the same in each iteration is no stack, and nothing is kept twice."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail.lax as lax
import dovetail.numpy as dnp
from dovetail import grad, jacfwd, jit, make_jaxpr, vjp

X, W, ROWS = (np.random.default_rng(0).normal(size=s).astype(np.float32) for s in (3, 3, (5, 3)))


def scans(f: Any, *args: Any) -> list[Any]:
    return [e for e in make_jaxpr(f)(*args).eqns if e.primitive.name == "scan"]


def looped(body: Any) -> Any:
    return lambda x, w: dnp.sum(lax.scan(lambda c, s: (body(c, s, w), None), x, ROWS)[0])


def stacks(f: Any) -> int:
    """How many residuals the forward loop returns, beside its last state."""
    forward, _ = scans(grad(f), X, W)
    return len(forward.outvars) - forward.params["num_carry"]


def agrees(f: Any) -> None:
    """Derivatives in reverse mode, compiled or not, are those in forward mode."""
    expected = jacfwd(f, (0, 1))(X, W)
    for result in (grad(f, (0, 1))(X, W), jit(grad(f, (0, 1)))(X, W)):
        for a, b in zip(result, expected):
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


def test_what_is_computed_of_constants_is_computed_beside_the_loop() -> None:
    f = looped(lambda c, s, w: lax.add(lax.mul(c, lax.sin(lax.mul(w, w))), s))
    assert stacks(f) == 0
    _, backward = scans(grad(f), X, W)
    assert backward.params["num_consts"] == 1
    agrees(f)


def test_equal_operations_leave_one_residual() -> None:
    def body(c: Any, s: Any, w: Any) -> Any:
        return lax.mul(lax.mul(lax.cos(c), lax.mul(s, w)), lax.mul(lax.cos(c), lax.mul(s, w)))

    assert stacks(looped(body)) <= 5  # twice that many without
    agrees(looped(body))


def test_known_numbers_of_other_signs_are_not_equal() -> None:
    def body(c: Any, s: Any, w: Any) -> Any:
        one, other = lax.div(c, np.float32(2.0)), lax.div(c, np.float32(-2.0))
        return lax.add(lax.mul(lax.sin(one), lax.cos(other)), lax.mul(lax.sin(other), w))

    agrees(looped(body))


def test_loops_in_loops() -> None:
    def f(x: Any, w: Any) -> Any:
        def inner(c: Any, _: Any) -> Any:
            return lax.mul(c, lax.exp(lax.sin(w))), c

        def outer(c: Any, s: Any) -> Any:
            c, rows = lax.scan(inner, c, None, length=3)
            return lax.add(lax.mul(c, s), dnp.sum(rows, 0)), None

        return dnp.sum(lax.scan(outer, x, ROWS)[0])

    agrees(f)


def test_constants_of_integers() -> None:
    def f(x: Any, n: Any) -> Any:
        return lax.scan(lambda c, _: (c**2 * (n + 1), n * 2), x, None, 2)

    _, back, twice = vjp(lambda x: f(x, dnp.int32(3)), X, has_aux=True)
    np.testing.assert_allclose(back(dnp.ones(3))[0], 256 * X**3, rtol=1e-4)
    assert twice.tolist() == [6, 6]
