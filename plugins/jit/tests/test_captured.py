"""NumPy arrays in programs: they hold what the arrays held when they were traced."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad, linearize, vjp
from dovetail_batching import vmap
from dovetail_core import config, jaxpr_as_fun, stage_closed, typeof
from dovetail_custom_rules import custom_jvp, custom_vjp
from dovetail_jit import jit, make_jaxpr
from dovetail_remat import checkpoint

X = np.ones(3, np.float32)
ON_DEVICE = lax.mul(X, np.float32(1))


@pytest.fixture(autouse=True, scope="module")
def plugins_loaded() -> None:
    """Plugins add options, and options are part of the key under which programs are remembered."""
    grad(jit(lambda x: lax.reduce_sum(lax.sin(x), (0,))))(X)


def loop(x: Any, w: Any) -> Any:
    return lax.scan(lambda c, _: (lax.mul(c, w), None), x, None, length=1)[0]


def branch(x: Any, w: Any) -> Any:
    return lax.cond(lax.lt(x[0], np.float32(9)), lambda: lax.mul(x, w), lambda: x)


def product(x: Any, w: Any) -> Any:
    return lax.mul(x, w)


def remat(x: Any, w: Any) -> Any:
    return checkpoint(lambda x: lax.mul(x, w))(x)


def with_jvp(x: Any, w: Any) -> Any:
    f = custom_jvp(lambda x: lax.mul(x, w))
    f.defjvp(lambda primals, tangents: (f(*primals), lax.mul(tangents[0], w)))
    return f(x)


def with_vjp(x: Any, w: Any) -> Any:
    f = custom_vjp(lambda x: lax.mul(x, w))
    f.defvjp(lambda x: (f(x), w), lambda res, ct: (lax.mul(ct, res),))
    return f(x)


FUNCTIONS = [product, loop, branch, remat, with_jvp, with_vjp]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_calls_agree_however_the_argument_comes(f: Callable[..., Any]) -> None:
    w = np.full(3, 2, np.float32)
    g = jit(lambda x: f(x, w))
    g(ON_DEVICE)
    w[:] = 9
    for result in (g(ON_DEVICE), g(X), vmap(g)(X[None])[0]):
        np.testing.assert_array_equal(result, 2 * X)


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("compiled", [False, True])
def test_residuals_are_kept(f: Callable[..., Any], compiled: bool) -> None:
    w = np.full(3, 2, np.float32)
    g = jit(lambda x: f(x, w)) if compiled else lambda x: f(x, w)
    pullback = vjp(g, ON_DEVICE)[1]
    pushforward = linearize(g, ON_DEVICE)[1]
    w[:] = 9
    np.testing.assert_array_equal(pullback(X)[0], 2 * X)
    np.testing.assert_array_equal(pushforward(X), 2 * X)


def test_an_argument_is_its_own_residual() -> None:
    w = np.full(3, 2, np.float32)
    pullback = vjp(lambda x: lax.mul(x, x), w)[1]
    w[:] = 9
    np.testing.assert_array_equal(pullback(X)[0], 4 * X)


def test_stages_hold_what_was_traced() -> None:
    w = np.full(3, 2, np.float32)
    traced = jit(lambda x: product(x, w)).trace(X)
    program = make_jaxpr(lambda x: product(x, w))(X)
    w[:] = 9
    np.testing.assert_array_equal(traced.lower().compile()(X), 2 * X)
    np.testing.assert_array_equal(jaxpr_as_fun(program)(X)[0], 2 * X)


def test_writing_while_tracing_is_seen_as_when_evaluating() -> None:
    def f(x: Any) -> Any:
        w = np.zeros(3, np.float32)
        for i in range(3):
            w[:] = i
            x = lax.add(lax.mul(x, np.float32(10)), w)
        return x

    np.testing.assert_array_equal(jit(f)(X), f(X))
    np.testing.assert_array_equal(f(X), 1012 * X)


def test_programs_share_copies_and_keep_what_cannot_change() -> None:
    w, fixed = np.full(3, 2, np.float32), np.full(3, 3, np.float32)
    fixed.flags.writeable = False
    view = w[:]
    view.flags.writeable = False  # others may write to it

    def f(x: Any) -> list[Any]:
        for _ in range(2):
            x = loop(lax.mul(lax.mul(lax.mul(x, w), fixed), view), w)
        return [x]

    consts = stage_closed(f, [typeof(X)]).consts
    assert len(consts) == 3 and any(c is fixed for c in consts)
    assert not any(np.shares_memory(c, w) for c in consts)


def test_copies_are_shared_while_nobody_writes_and_die_with_programs() -> None:
    w = np.full(3, 2, np.float32)
    first, second = (make_jaxpr(lambda x: product(x, w))(X) for _ in range(2))
    assert first.consts[0] is second.consts[0]
    w[:] = 9
    assert make_jaxpr(lambda x: product(x, w))(X).consts[0] is not first.consts[0]
    np.testing.assert_array_equal(first.consts[0], 2 * X)
    copy = weakref.ref(first.consts[0])
    del first, second
    gc.collect()
    assert copy() is None


def test_functions_that_close_over_much_cause_a_warning():
    f = jit(lambda x: lax.mul(x, ON_DEVICE))
    config.update("captured_constants_warn_bytes", 11)
    try:
        for use in (lambda: f(X), lambda: jit(lambda x: lax.add(x, ON_DEVICE)).lower(X)):
            with pytest.warns(UserWarning, match=r"closes over arrays of 12 bytes at .*test_capt"):
                use()
        f(X)  # which is not lowered again
        config.update("captured_constants_warn_bytes", 12)
        jit(lambda x: lax.sub(x, ON_DEVICE))(X)
        config.update("captured_constants_warn_bytes", -1)
        jit(lambda x: lax.div(x, ON_DEVICE))(X)
    finally:
        config.update("captured_constants_warn_bytes", 2_000_000_000)
