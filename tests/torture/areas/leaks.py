"""New functions over new arrays under random transformations: all of it dies."""

from __future__ import annotations

import gc
import random
import sys
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail
import dovetail.numpy as jnp
from dovetail import lax
from dovetail_jit.providers.background_compile import waiting

KINDS = ["after the last reference", "after clear_caches()", "after a failure", "live objects"]
LIMIT = 120.0
BATCH = 20
ROUNDS = 6

X = np.linspace(0.1, 0.9, 4, dtype=np.float32)
Function = Callable[[Any], Any]


def attempt(rng: random.Random, begin: Callable[[str], None]) -> None:
    kind = rng.choice(KINDS)
    begin(kind)
    plan = [rng.choice(sorted(LAYERS)) for _ in range(rng.randint(1, 3))]
    if kind == "live objects":
        _count(plan)
    elif kind == "after a failure":
        _check_gone(_fail(plan), plan)
    elif kind == "after clear_caches()":
        refs = _use(plan)
        dovetail.clear_caches()
        _check_gone(refs, plan)
    else:
        _check_gone(_use([name for name in plan if name not in KEEPS]), plan)


def _build(plan: list[str], innermost: Function) -> Function:
    f = innermost
    for name in plan:
        f = LAYERS[name](f)
    return f


def _use(plan: list[str]) -> list[weakref.ref[Any]]:
    """Use a new function of a new array and compare with NumPy; weak references to all of it."""
    w = jnp.asarray(X) + 1.0

    def innermost(x: Any) -> Any:
        return x * w

    f = _build(plan, innermost)
    y = jnp.asarray(X) * 1.0
    want = X
    for _ in range(2):
        out = f(y)
        np.testing.assert_allclose(np.asarray(out), want * (X + 1.0), rtol=1e-5)
    return [weakref.ref(a) for a in (w, innermost, y, out)]


def _fail(plan: list[str]) -> list[weakref.ref[Any]]:
    w = jnp.asarray(X) + 1.0

    def innermost(x: Any) -> Any:
        raise KeyError(x * w)

    y = jnp.asarray(X) * 1.0
    try:
        _build(plan, innermost)(y)
    except KeyError:
        return [weakref.ref(a) for a in (w, innermost, y)]
    raise AssertionError("no exception")


def _count(plan: list[str]) -> None:
    """As many objects live after one more use as before."""
    counts: list[int] = []
    loaded = 0
    while len(counts) < ROUNDS:
        _use(plan)
        dovetail.clear_caches()
        _collect()
        if loaded < len(sys.modules):  # by what took long once, say: its objects stay for good
            loaded = len(sys.modules)
            counts.clear()
        counts.append(len(gc.get_objects()))
    assert min(counts[-2:]) <= min(counts[1:3]) + 5, (plan, counts)


def _collect() -> None:
    while waiting():  # what is compiled meanwhile holds its program
        time.sleep(0.001)
    for _ in range(3):  # what the runtime lets go of in one is found by the next
        gc.collect()


def _check_gone(refs: list[weakref.ref[Any]], plan: list[str]) -> None:
    _collect()
    alive = [x for r in refs if (x := r()) is not None]
    assert not alive, (plan, alive)


def _derivative(f: Function) -> Function:
    """The pullback of what is linear: the same function of the elements."""
    return lambda x: dovetail.vjp(f, x)[1](x)[0]


def _gradient(f: Function) -> Function:
    return dovetail.grad(lambda x: jnp.sum(f(x) * x) / 2)


def _custom_vjp(f: Function) -> Function:
    g = dovetail.custom_vjp(f)
    g.defvjp(lambda x: (f(x), None), lambda _, ct: (f(ct),))
    return lambda x: g(x)


def _custom_jvp(f: Function) -> Function:
    g = dovetail.custom_jvp(f)
    g.defjvp(lambda p, t: (f(p[0]), f(jnp.ones_like(p[0])) * t[0]))
    return lambda x: g(x)


def _scan(f: Function) -> Function:
    return lambda x: lax.scan(lambda c, _: (f(x), None), x, None, length=2)[0]


def _while(f: Function) -> Function:
    return lambda x: lax.fori_loop(0, 2, lambda i, c: f(x), x)


def _cond(f: Function) -> Function:
    return lambda x: lax.cond(x[0] < 5.0, f, lambda y: y, x)


def _printed(f: Function) -> Function:
    def g(x: Any) -> Any:
        dovetail.debug.callback(lambda v: None, x)
        return f(x)

    return g


def _pure_callback(f: Function) -> Function:
    """A callback beside the function."""
    shape = dovetail.ShapeDtypeStruct((), np.float32)

    def g(x: Any) -> Any:
        zero = dovetail.pure_callback(lambda v: np.float32(0), shape, 0.0)
        return f(x) + zero

    return g


def _reference(f: Function) -> Function:
    def g(x: Any) -> Any:
        ref = dovetail.new_ref(x)
        ref[...] = f(ref[...])
        return ref[...]

    return g


LAYERS: dict[str, Callable[[Function], Function]] = {
    "jit": lambda f: dovetail.jit(f),
    "vjp": _derivative,
    "grad": _gradient,
    "linearize": lambda f: lambda x: dovetail.linearize(f, x)[1](x),
    "jvp": lambda f: lambda x: dovetail.jvp(f, (x,), (x,))[1],
    "vmap": lambda f: lambda x: dovetail.vmap(f)(jnp.stack([x, x]))[1],
    "checkpoint": lambda f: dovetail.checkpoint(f),
    "custom_vjp": _custom_vjp,
    "custom_jvp": _custom_jvp,
    "scan": _scan,
    "fori_loop": _while,
    "cond": _cond,
    "debug.callback": _printed,
    "pure_callback": _pure_callback,
    "reference": _reference,
}
KEEPS = {"scan", "fori_loop", "cond"}
"""What is compiled for equal programs at rest is kept until clear_caches(), with those programs."""
