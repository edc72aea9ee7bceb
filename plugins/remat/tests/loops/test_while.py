"""``while_loop`` in reverse mode: loops whose number of steps is not known before they run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad, hessian, jacrev, jvp, linear_transpose, linearize
from dovetail_batching import vmap
from dovetail_jit import jit
from dovetail_remat import Binomial, Online
from dovetail_tree.util import tree_leaves

pytestmark = pytest.mark.usefixtures("x64")
STARTS = (1.0, 2.0, 60.0, 0.5)


def step(a: Any, b: Any, w: Any) -> Any:
    return (
        lax.add(lax.mul(a, w), lax.mul(0.1, lax.cos(b))),
        lax.add(b, lax.mul(0.3, lax.sin(a))),
    )


def looped(x: Any, w: Any, snapshots: int = 3) -> Any:
    """Steps until the first carry is 50; its number depends on x and w."""
    a, b = lax.while_loop(
        lambda c: c[0] < 50.0,
        lambda c: step(*c, w),
        (x, lax.mul(x, 0.5)),
        checkpoint=Online(snapshots),
    )
    return lax.add(lax.mul(a, a), b)


def steps_from(x: float, w: float) -> int:
    a, b, k = x, x * 0.5, 0
    while a < 50:
        a, b, k = a * w + 0.1 * math.cos(b), b + 0.3 * math.sin(a), k + 1
    return k


def unrolled(n: int) -> Any:
    """The same computation as n steps written out."""

    def f(x: Any, w: Any) -> Any:
        a, b = x, lax.mul(x, 0.5)
        for _ in range(n):
            a, b = step(a, b, w)
        return lax.add(lax.mul(a, a), b)

    return f


@pytest.mark.parametrize("snapshots", [1, 2, 3, 5, 100])
def test_gradients_are_those_of_the_steps_taken(snapshots: int) -> None:
    wanted = grad(unrolled(steps_from(1.0, 1.07)), (0, 1))(1.0, 1.07)
    result = jit(grad(looped, (0, 1)), static_argnums=2)(1.0, 1.07, snapshots)
    np.testing.assert_allclose(result, wanted, rtol=1e-12)


def test_higher_orders() -> None:
    plain = unrolled(steps_from(2.0, 1.2))
    for use in (hessian, lambda f, n: jacrev(grad(f, n), n)):
        wanted = tree_leaves(use(plain, (0, 1))(2.0, 1.2))
        result = tree_leaves(jit(use(looped, (0, 1)))(2.0, 1.2))
        np.testing.assert_allclose(result, wanted, rtol=1e-11)


def test_forward_mode_stays() -> None:
    wanted = jvp(unrolled(steps_from(1.0, 1.07)), (1.0, 1.07), (1.0, 0.5))
    np.testing.assert_allclose(jvp(looped, (1.0, 1.07), (1.0, 0.5)), wanted, rtol=1e-12)


def test_elements_of_a_batch_stop_on_their_own() -> None:
    xs = np.array(STARTS)
    firsts = [grad(unrolled(steps_from(x, 1.07)))(x, 1.07) for x in STARTS]
    seconds = [grad(grad(unrolled(steps_from(x, 1.07))))(x, 1.07) for x in STARTS]
    np.testing.assert_allclose(vmap(grad(looped), (0, None))(xs, 1.07), firsts, rtol=1e-12)
    np.testing.assert_allclose(jit(vmap(grad(looped), (0, None)))(xs, 1.07), firsts, rtol=1e-12)
    np.testing.assert_allclose(vmap(grad(grad(looped)), (0, None))(xs, 1.07), seconds, rtol=1e-10)
    sums = grad(lambda x: lax.reduce_sum_p.bind(vmap(looped, (0, None))(x, 1.07), axes=(0,)))
    np.testing.assert_allclose(sums(xs), firsts, rtol=1e-12)


def test_second_derivatives_can_be_transposed_twice() -> None:
    def f(x: Any) -> Any:
        return lax.while_loop(
            lambda c: c < 3.0, lambda c: lax.add(lax.mul(c, x), lax.sin(x)), x, checkpoint=Online(2)
        )

    push = linearize(grad(f), 1.2)[1]
    pull = linear_transpose(push, 1.2)
    again = linear_transpose(lambda ct: pull(ct)[0], 1.2)
    np.testing.assert_allclose([pull(2.0)[0], again(2.0)[0]], 2 * grad(grad(f))(1.2), rtol=1e-12)


def test_no_step_at_all() -> None:
    wanted = grad(unrolled(0), (0, 1))(60.0, 1.07)
    np.testing.assert_allclose(grad(looped, (0, 1))(60.0, 1.07), wanted)


def test_a_fori_loop_with_computed_bounds() -> None:
    def f(x: Any, n: Any) -> Any:
        return lax.fori_loop(0, n, lambda i, c: lax.sin(c), x, checkpoint=Online(2))

    def wanted(n: int) -> float:
        x, d = 0.4, 1.0
        for _ in range(n):
            x, d = math.sin(x), d * math.cos(x)
        return d

    for n in (0, 1, 13):
        np.testing.assert_allclose(jit(grad(f))(0.4, n), wanted(n), rtol=1e-12)


def test_newton_iteration_to_a_tolerance() -> None:
    def root(a: Any) -> Any:
        def far(x: Any) -> Any:
            return lax.abs(lax.sub(lax.mul(x, x), a)) > 1e-13

        def better(x: Any) -> Any:
            return lax.mul(0.5, lax.add(x, lax.div(a, x)))

        return lax.while_loop(far, better, a, checkpoint=Online(4))

    np.testing.assert_allclose(grad(root)(9.0), 1 / 6, rtol=1e-7)
    np.testing.assert_allclose(grad(root)(2.0), 0.5 / math.sqrt(2), rtol=1e-7)


@pytest.mark.parametrize("order", [grad, lambda f: grad(grad(f))], ids=["first", "second"])
@pytest.mark.parametrize("scheme", [Online(2), Binomial(1)], ids=repr)
def test_loops_in_branches_that_only_some_elements_take(scheme: Any, order: Any) -> None:
    """The schedule of the loop is then mapped as well."""

    def f(x: Any) -> Any:
        def loop(x: Any) -> Any:
            return lax.fori_loop(0, 4, lambda _, c: lax.sin(lax.mul(c, x)), x, checkpoint=scheme)

        return lax.cond(x > 0.5, loop, lambda x: lax.mul(x, x), x)

    xs = np.array([0.3, 0.7, 0.9])
    result = vmap(order(f))(xs)
    np.testing.assert_allclose(result, [order(f)(x) for x in xs], rtol=1e-12)
