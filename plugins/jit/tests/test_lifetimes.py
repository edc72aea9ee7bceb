"""What compiled functions keep alive, and what they let go."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_ad import grad
from dovetail_batching import vmap
from dovetail_jit import jit, make_jaxpr

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
