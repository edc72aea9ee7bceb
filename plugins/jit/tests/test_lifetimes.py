"""What compiled functions keep alive, and what they let go."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad, vjp
from dovetail_backends import block_until_ready
from dovetail_batching import vmap
from dovetail_callbacks import pure_callback
from dovetail_custom_rules.custom_derivatives import custom_vjp
from dovetail_jit import ShapeDtypeStruct, clear_caches, jit, make_jaxpr
from dovetail_remat.api import checkpoint

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)


def total(x: Any) -> Any:
    return lax.reduce_sum_p.bind(x, axes=tuple(range(x.ndim)))


def collected(ref: Any) -> bool:
    gc.collect()
    return ref() is None


def test_a_compiled_stage_lets_go_of_its_example_arguments() -> None:
    x = lax.mul(X, 2.0)
    ref = weakref.ref(x)
    compiled = jit(total).lower(x).compile()
    del x
    assert collected(ref)
    np.testing.assert_allclose(compiled(X), X.sum(), rtol=1e-6)


def test_a_function_dies_with_its_wrapper() -> None:
    f = lambda x: lax.mul(x, 2.0)  # noqa: E731
    g = jit(f)
    ref = weakref.ref(f)
    use_everywhere(g)
    del f
    gc.collect()
    assert ref() is not None
    del g
    assert collected(ref)


def use_everywhere(g: Any) -> None:
    g(X)
    make_jaxpr(g)(X)
    grad(lambda x: total(g(x)))(X)
    vmap(g)(X)
    jit(lambda x: g(x))(X)


def test_wrappers_can_be_referred_to_weakly_and_die() -> None:
    g = jit(lambda x: lax.sin(x))
    ref = weakref.ref(g)
    g(X)
    del g
    assert collected(ref)


def test_a_bound_method_does_not_outlive_its_wrapper() -> None:
    class Model:
        def apply(self, x: Any) -> Any:
            return lax.sin(x)

    m = Model()
    ref = weakref.ref(m)
    g = jit(m.apply)
    g(X)
    del m
    np.testing.assert_allclose(g(X), np.sin(X), rtol=1e-6)
    del g
    assert collected(ref)


def test_arrays_that_a_function_closes_over_die_with_it() -> None:
    def make() -> tuple[Any, Any]:
        big = lax.mul(np.ones(1000, np.float32), 3.0)
        return jit(lambda x: lax.mul(x, big)), weakref.ref(big)

    g, ref = make()
    g(np.float32(2))
    total(vmap(g)(X))
    gc.collect()
    assert ref() is not None
    del g
    assert collected(ref)


def test_arguments_and_results_are_not_kept() -> None:
    g = jit(lambda x: lax.mul(x, 2.0))
    x = lax.mul(X, 1.0)
    y = g(x)
    refs = weakref.ref(x), weakref.ref(y)
    del x, y
    gc.collect()
    assert [r() for r in refs] == [None, None]


def test_tracers_are_not_kept_after_tracing() -> None:
    refs: list[Any] = []

    def f(x: Any) -> Any:
        y = lax.sin(x)
        refs.extend([weakref.ref(x), weakref.ref(y)])
        return lax.mul(y, x)

    for g in (jit(f), grad(lambda x: total(f(x))), vmap(f), jit(grad(lambda x: total(f(x))))):
        g(X)
    gc.collect()
    assert refs and all(r() is None for r in refs)


class Scaled:
    """Callable, and equal to all others."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scaled)

    def __hash__(self) -> int:
        return 7

    def __call__(self, x: Any) -> Any:
        return lax.mul(x, self.scale)

    def method(self, x: Any) -> Any:
        return self(x)


EQUAL: dict[str, Callable[[float], Any]] = {
    "object": Scaled,
    "method": lambda s: Scaled(s).method,
    "partial": lambda s: partial(lambda f, x: f(x), Scaled(s)),
    "partial of one function": lambda s: partial(_apply, Scaled(s)),
}


def _apply(f: Any, x: Any) -> Any:
    return f(x)


@pytest.mark.parametrize("kind", EQUAL)
def test_functions_that_compare_equal_are_told_apart(kind: str) -> None:
    f, g = EQUAL[kind](2.0), EQUAL[kind](3.0)
    for use in (
        jit,
        lambda f: jit(f).lower(X).compile(),
        lambda f: lambda x: jit(lambda x: jit(f)(x))(x),
        lambda f: vmap(jit(f)),
        lambda f: grad(lambda x: total(lax.mul(jit(f)(x), x))),
    ):
        first, second = use(f), use(g)
        assert not np.allclose(first(X), second(X))
        np.testing.assert_array_equal(first(X), use(f)(X))


def test_static_arguments_that_compare_equal_are_one() -> None:
    f = jit(lambda s, x: s(x), static_argnums=0)
    np.testing.assert_array_equal(f(Scaled(2.0), X), f(Scaled(3.0), X))


def test_a_method_asked_for_again_is_not_traced_again() -> None:
    traced: list[int] = []

    class Model:
        def apply(self, x: Any) -> Any:
            traced.append(1)
            return lax.sin(x)

    m = Model()
    one, two = jit(m.apply), jit(m.apply)
    one(X)
    two(X)
    assert len(traced) == 1


def called(f: Any) -> Any:
    return lambda x: pure_callback(f, ShapeDtypeStruct((4,), np.float32), x)


def checkpointed(f: Any) -> Any:
    return grad(lambda x: total(checkpoint(f)(x)))


def with_rule(f: Any) -> Any:
    g = custom_vjp(f)
    g.defvjp(lambda x: (f(x), x), lambda x, ct: (f(ct),))
    return grad(lambda x: total(g(x)))


USES: dict[str, Callable[[Any], Any]] = {
    "jit": jit,
    "jit with options": lambda f: jit(f, keep_unused=True),
    "grad": lambda f: grad(lambda x: total(f(x))),
    "jit of grad": lambda f: jit(grad(lambda x: total(f(x)))),
    "vmap": vmap,
    "make_jaxpr": make_jaxpr,
    "checkpoint": checkpointed,
    "jit of checkpoint": lambda f: jit(checkpointed(f)),
    "custom_vjp": with_rule,
    "jit of custom_vjp": lambda f: jit(with_rule(f)),
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, length=2)[0],
    "cond": lambda f: lambda x: lax.cond(True, f, lambda x: x, x),
    "while": lambda f: lambda x: lax.while_loop(lambda c: c[0] > 0.05, f, x),
    "callback": called,
    "callback in jit": lambda f: jit(called(f)),
    "ahead of time": lambda f: jit(f).lower(X).compile(),
}


@pytest.mark.parametrize("use", USES)
def test_nothing_of_a_function_is_alive_after_clear_caches(use: str) -> None:
    def make() -> list[Any]:
        w = lax.mul(X, 3.0)
        f = lambda x: lax.mul(x, np.asarray(w) if isinstance(x, np.ndarray) else w)  # noqa: E731
        g = USES[use](f)
        g(X)
        block_until_ready(g(X))
        return [weakref.ref(f), weakref.ref(w)]

    refs = make()
    clear_caches()
    gc.collect()
    gc.collect()  # what C++ let go of during the first
    assert [r() for r in refs] == [None, None]


DIRECT = ["jit", "grad", "jit of grad", "vmap", "checkpoint", "scan", "cond", "callback"]


@pytest.mark.parametrize("use", DIRECT)
def test_arrays_die_with_their_last_reference(use: str) -> None:
    """Not at the next collection of garbage."""
    x = lax.mul(X, 1.0)

    def run() -> list[Any]:
        w, y = lax.mul(X, 3.0), lax.mul(x, 2.0)
        f = lambda x: lax.mul(x, np.asarray(w) if isinstance(x, np.ndarray) else w)  # noqa: E731
        result = block_until_ready(USES[use](f)(y))
        return [weakref.ref(a) for a in (w, y, result)]

    run()
    gc.collect()
    gc.disable()
    try:
        assert [r() for r in run()] == [None] * 3
    finally:
        gc.enable()


def test_residuals_die_with_the_pullback() -> None:
    kept: list[Any] = []
    f = custom_vjp(lambda x: lax.sin(x))

    def forward(x: Any) -> Any:
        kept.append(lax.cos(x))
        return lax.sin(x), kept[-1]

    f.defvjp(forward, lambda r, ct: (lax.mul(r, ct),))
    gc.disable()
    try:
        y, pull = vjp(f, X)
        ref = weakref.ref(kept.pop())
        assert ref() is not None
        pull(y)
        del pull
        assert ref() is None
    finally:
        gc.enable()


def test_arguments_of_failed_calls_die() -> None:
    def fails(x: Any) -> Any:
        lax.mul(lax.sin(x), x)
        raise KeyError("why")

    def run(use: Any) -> Any:
        x = lax.mul(X, 2.0)
        try:
            use(fails)(x)
        except KeyError:
            return weakref.ref(x)

    for use in (jit, vmap, lambda f: grad(lambda x: total(f(x))), checkpoint):
        gc.disable()
        try:
            assert run(use)() is None
        finally:
            gc.enable()


def test_a_loop_makes_no_garbage_of_equal_programs() -> None:
    counts: dict[int, Counter[str]] = {}
    for i in range(40):
        for use in ("grad", "vmap", "checkpoint", "scan", "cond", "custom_vjp", "callback"):
            USES[use](lambda x: lax.mul(x, 3.0) if not isinstance(x, np.ndarray) else x * 3)(X)
        if i in (10, 20, 39):  # the first time fills caches of what counts
            gc.collect()
            counts[i] = Counter(type(x).__name__ for x in gc.get_objects())
    assert counts[39].total() <= counts[20].total() + 20, counts[39] - counts[20]
