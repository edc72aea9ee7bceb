"""``lax.custom_root`` and ``lax.custom_linear_solve``, against closed forms and plain solves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import lax

XS = np.linspace(1.0, 4.0, 3, dtype=np.float32)


def sqrt(a: Any) -> Any:
    """By Newton's method in a loop, which has no reverse mode."""

    def newton(f: Any, x: Any) -> Any:
        step = lambda s: s - f(s) / (2 * s)  # noqa: E731
        return dt.lax.while_loop(lambda s: dnp.abs(f(s)) > 1e-6, step, x)

    guess = dnp.asarray(1.5)
    return dt.lax.custom_root(lambda x: x * x - a, guess, newton, lambda g, y: y / g(1.0))


def test_derivatives_of_a_root() -> None:
    np.testing.assert_allclose(sqrt(4.0), 2.0, rtol=1e-6)
    for slope in (dt.grad(sqrt), dt.jit(dt.grad(sqrt)), dt.grad(dt.jit(sqrt)), dt.jacfwd(sqrt)):
        np.testing.assert_allclose(slope(4.0), 0.25, rtol=1e-5)
    for second in (
        dt.hessian(sqrt), dt.grad(dt.grad(sqrt)), dt.jacfwd(dt.jacrev(sqrt)),
        dt.jacrev(dt.jacfwd(sqrt)),
    ):  # fmt: skip
        np.testing.assert_allclose(second(4.0), -1 / 32, rtol=1e-5)
    want = 0.5 / np.sqrt(XS)
    np.testing.assert_allclose(dt.vmap(dt.grad(sqrt))(XS), want, rtol=1e-5)
    np.testing.assert_allclose(dt.grad(lambda a: dt.vmap(sqrt)(a).sum())(XS), want, rtol=1e-5)


def test_a_root_of_a_pytree_with_further_values() -> None:
    def solve(f: Any, guess: Any) -> Any:
        return {"x": guess["x"] * 0 + p0 / 2, "y": guess["y"] * 0 + p0 / 3}, {"steps": 7}

    def tangent(g: Any, y: Any) -> Any:
        return {"x": y["x"] / 2, "y": y["y"] / 3}

    p0 = 6.0

    def root(p: Any) -> Any:
        f = lambda v: {"x": 2 * v["x"] - p, "y": 3 * v["y"] - p}  # noqa: E731
        return dt.lax.custom_root(f, {"x": 0.0, "y": 0.0}, solve, tangent, has_aux=True)

    out, aux = root(p0)
    assert out == {"x": 3.0, "y": 2.0} and aux["steps"] == 7
    (value, aux), t = dt.jvp(root, (p0,), (1.0,))
    assert value["x"] == 3.0 and t[0]["x"] == 0.5 and t[1]["steps"].dtype == dt.float0
    np.testing.assert_allclose(dt.grad(lambda p: root(p)[0]["y"])(p0), 1 / 3, rtol=1e-6)


A = np.array([[2.0, 1.0, 0.0], [0.5, 3.0, 1.0], [0.0, -1.0, 4.0]], np.float32)
B = np.array([1.0, 2.0, 3.0], np.float32)


def plain(a: Any, b: Any) -> Any:
    return dnp.linalg.solve(a, b)


def implicit(a: Any, b: Any, **options: Any) -> Any:
    def solve(matvec: Any, rhs: Any) -> Any:
        return dnp.linalg.solve(dt.jacfwd(matvec)(rhs), rhs)

    options.setdefault("transpose_solve", solve)
    return dt.lax.custom_linear_solve(lambda x: a @ x, b, solve, **options)


def loss(solve: Any) -> Any:
    return lambda a, b: (solve(a, b) ** 2).sum()


USES: list[Any] = [
    lambda s: s(A, B),
    lambda s: dt.jvp(s, (A, B), (A * 0.1, B)),
    lambda s: dt.grad(loss(s), (0, 1))(A, B),
    lambda s: dt.jit(dt.grad(loss(s), (0, 1)))(A, B),
    lambda s: dt.grad(dt.jit(loss(s)), (0, 1))(A, B),
    lambda s: dt.hessian(loss(s))(A, B),
    lambda s: dt.jacrev(dt.jacrev(loss(s), 1), 0)(A, B),
    lambda s: dt.vmap(s, (0, None))(np.stack([A, A.T]), B),
    lambda s: dt.grad(lambda a, b: dt.vmap(loss(s), (0, None))(a, b).sum(), (0, 1))(
        np.stack([A, A.T]), B
    ),
    lambda s: dt.linear_transpose(lambda b: s(A, b), B)(B),
]


@pytest.mark.parametrize("use", USES)
def test_a_solve_agrees_with_a_plain_one(use: Any) -> None:
    got, want = dt.tree.leaves(use(implicit)), dt.tree.leaves(use(plain))
    assert len(got) == len(want)
    for x, y in zip(got, want):
        np.testing.assert_allclose(x, y, rtol=2e-3, atol=1e-5)


def test_a_symmetric_solve_is_its_own_transpose() -> None:
    s = A + A.T
    given = lambda a, b: implicit(a + a.T, b, transpose_solve=None, symmetric=True)  # noqa: E731
    got = dt.grad(loss(given), (0, 1))(A, B)
    want = dt.grad(loss(lambda a, b: plain(a + a.T, b)), (0, 1))(A, B)
    np.testing.assert_allclose(given(A, B), np.linalg.solve(s, B), rtol=1e-4)
    for x, y in zip(got, want):
        np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-5)


def test_further_values_of_a_solve() -> None:
    def solve(matvec: Any, b: Any) -> Any:
        return b / 2.0, {"steps": 3, "norm": b.sum()}

    def run(b: Any) -> Any:
        return dt.lax.custom_linear_solve(lambda x: 2.0 * x, b, solve, solve, has_aux=True)

    x, aux = run(dnp.asarray(B))
    np.testing.assert_allclose(x, B / 2)
    assert aux["steps"] == 3 and aux["norm"] == 6.0
    np.testing.assert_allclose(dt.grad(lambda b: (run(b)[0] ** 2).sum())(B), B / 2)
    np.testing.assert_allclose(dt.grad(lambda b: run(b)[1]["norm"])(B), [0.0] * 3)


def test_a_solver_may_use_what_is_differentiated() -> None:
    def root(a: Any) -> Any:
        return dt.lax.custom_root(
            lambda x: x * x - a, 1.0, lambda f, x: dnp.sqrt(a), lambda g, y: y / g(1.0)
        )

    for g in (dt.grad(root), dt.jit(dt.grad(root)), dt.grad(dt.jit(root)), dt.grad(dt.remat(root))):
        np.testing.assert_allclose(g(4.0), 0.25)
    np.testing.assert_allclose(dt.grad(dt.grad(root))(4.0), -1 / 32)
    np.testing.assert_allclose(dt.vmap(dt.grad(root))(dnp.asarray([1.0, 4.0])), [0.5, 0.25])
    np.testing.assert_allclose(dt.jvp(root, (4.0,), (1.0,)), (2.0, 0.25))


def test_bad_input() -> None:
    one = dnp.asarray(1.0)
    with pytest.raises(TypeError, match=r"custom_root: f \(<lambda>\) must return the structure"):
        dt.lax.custom_root(lambda x: (x, x), one, lambda f, x: x, lambda g, y: y)
    with pytest.raises(TypeError, match=r"f \(<lambda>\) returned f32\[2\].*initial_guess has"):
        dt.lax.custom_root(lambda x: dnp.ones(2), one, lambda f, x: x, lambda g, y: y)
    with pytest.raises(TypeError, match=r"custom_root: solve \(<lambda>\) must return the struct"):
        dt.lax.custom_root(lambda x: x, one, lambda f, x: [x], lambda g, y: y)
    with pytest.raises(TypeError, match=r"solve must return a pair \(root, aux\)"):
        dt.lax.custom_root(lambda x: x, one, lambda f, x: x, lambda g, y: y, has_aux=True)
    with pytest.raises(TypeError, match="custom_linear_solve: matvec must return the structure"):
        dt.lax.custom_linear_solve(lambda x: [x], one, lambda f, b: b)
    with pytest.raises(TypeError, match=r"matvec returned f32\[3\].*where b has f32\[\]"):
        dt.lax.custom_linear_solve(lambda x: x * B, one, lambda f, b: b)
    with pytest.raises(TypeError, match=r"solve \(<lambda>\) must return the structure of b"):
        dt.lax.custom_linear_solve(lambda x: x, one, lambda f, b: [b])
    with pytest.raises(TypeError, match=r"must return a pair \(solution, aux\)"):
        dt.lax.custom_linear_solve(lambda x: x, one, lambda f, b: b, has_aux=True)
    forward_only = lambda b: dt.lax.custom_linear_solve(lambda x: x, b, lambda f, b: b)  # noqa: E731
    assert dt.jvp(forward_only, (1.0,), (1.0,)) == (1.0, 1.0)
    with pytest.raises(TypeError, match="pass transpose_solve, or symmetric=True"):
        dt.grad(forward_only)(1.0)


def test_results_that_do_not_fit_are_errors_of_values_too() -> None:
    two = dnp.ones(2)
    with pytest.raises(ValueError, match=r"test_roots\.py:\d+"):
        dt.lax.custom_linear_solve(lambda x: x[:1], two, lambda f, b: b)
    with pytest.raises(ValueError, match=r"returned f32\[1\]"):
        dt.lax.custom_linear_solve(lambda x: x, two, lambda f, b: b[:1])
    with pytest.raises(ValueError, match=r"test_roots\.py:\d+"):
        dt.lax.custom_linear_solve(lambda x: (x, x), two, lambda f, b: b)


def _root(a: Any, b: Any) -> Any:
    return lax.custom_root(lambda x: a * x - b, b * 1.0, lambda f, guess: b / a, lambda g, y: y / a)


def _root_of_linearization(a: Any, b: Any) -> Any:
    return lax.custom_root(
        lambda x: a * x - b, b * 1.0, lambda f, guess: b / a, lambda g, y: y / (g(1.0) + 0 * a)
    )


def _solution(a: Any, b: Any) -> Any:
    return lax.custom_linear_solve(
        lambda x: a * x, b * 1.0, lambda mv, y: y / a, lambda vm, y: y / a
    )


def _symmetric_solution(a: Any, b: Any) -> Any:
    return lax.custom_linear_solve(lambda x: a * x, b * 1.0, lambda mv, y: y / a, symmetric=True)


@pytest.mark.parametrize("f", [_root, _root_of_linearization, _solution, _symmetric_solution])
def test_solvers_close_over_what_is_differentiated(f: Any) -> None:
    """``b / a``: in every mode and order, mapped, in loops, branches and checkpoints."""
    a, b = 2.0, 3.0
    slopes = -b / a**2, 1 / a
    second = np.array([[2 * b / a**3, -1 / a**2], [-1 / a**2, 0.0]])
    for grad in (dt.grad(f, (0, 1)), dt.jit(dt.grad(f, (0, 1))), dt.grad(dt.jit(f), (0, 1)),
                 dt.grad(dt.checkpoint(f), (0, 1)), dt.jacfwd(f, (0, 1))):  # fmt: skip
        np.testing.assert_allclose(grad(a, b), slopes, rtol=1e-6)
    change = slopes[0] + 0.5 * slopes[1]
    np.testing.assert_allclose(dt.jvp(f, (a, b), (1.0, 0.5))[1], change, rtol=1e-6)
    np.testing.assert_allclose(dt.linearize(f, a, b)[1](1.0, 0.5), change, rtol=1e-6)
    for outer, inner in ((dt.jacfwd, dt.jacrev), (dt.jacrev, dt.jacrev), (dt.jacrev, dt.jacfwd)):
        np.testing.assert_allclose(outer(inner(f, (0, 1)), (0, 1))(a, b), second, rtol=1e-5)
    third = dt.grad(dt.grad(dt.grad(f)))(a, b)
    np.testing.assert_allclose(third, -6 * b / a**4, rtol=1e-5)
    mapped = dt.vmap(dt.grad(f), (0, None))(XS, b)
    np.testing.assert_allclose(mapped, -b / XS**2, rtol=1e-5)
    summed = dt.grad(lambda a: dt.vmap(f, (0, None))(a, b).sum())(XS)
    np.testing.assert_allclose(summed, -b / XS**2, rtol=1e-5)
    twice = dt.grad(lambda a: lax.scan(lambda c, _: (f(a, c), None), b, None, length=2)[0])(a)
    np.testing.assert_allclose(twice, -2 * b / a**3, rtol=1e-5)
    chosen = dt.grad(lambda a: lax.cond(a > 0, lambda a: f(a, b), lambda a: a, a))(a)
    np.testing.assert_allclose(chosen, slopes[0], rtol=1e-6)
