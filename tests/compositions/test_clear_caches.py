"""``clear_caches``: every cache of the product is filled, emptied, and filled again alike."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax, nn, random, scipy
from dovetail.experimental import sparse
from dovetail_base.caches import caches, entries_in
from dovetail_core import Cache, WeakTable, cached

X = np.linspace(0.1, 0.9, 6, dtype=np.float32).reshape(2, 3)


def operations() -> Iterator[Any]:
    """Operations at rest."""
    x = dnp.asarray(X)
    yield dnp.sum(x, axis=1), dnp.mean(x), dnp.max(x, axis=(0, 1)), x.std()
    yield x @ x.T, dnp.einsum("ij,kj->ik", x, x), dnp.tensordot(x, x, 2), lax.dot(x, x.T)
    yield x[1], x[:, ::2], x[dnp.array([0, 1, 1])], x.at[0].set(1.0), x.at[0, 1].add(2.0)
    yield dnp.pad(x, 1), dnp.clip(x, 0.2, 0.5), dnp.round(x, 2), dnp.where(x > 0.5, x, 0)
    yield dnp.concatenate([x, x]), x.astype("int32") + 1, dnp.power(x, 2), -x / 3, list(x[0])
    yield nn.gelu(x), nn.softmax(x), nn.relu(x), nn.one_hot(dnp.array([1, 0]), 3)
    yield lax.conv_general_dilated(x[None, None], x[None, None], (1, 1), "SAME")
    yield scipy.special.erf(x), scipy.special.bernoulli(6), scipy.special.gammainc(x, x)
    yield scipy.linalg.expm(x @ x.T), dnp.linalg.solve(x @ x.T, x)
    yield sparse.BCOO.fromdense(x) @ x.T


def draws() -> Iterator[Any]:
    key = random.key(3)
    yield random.uniform(key, (3,)), random.normal(key, (3,)), random.bits(key, (2,))
    yield random.randint(key, (4,), 0, 9), random.permutation(key, 5), random.key_data(key)
    yield random.split(key, 2).shape


@dovetail.custom_vjp
def scaled(x: Any) -> Any:
    return x * 3.0


scaled.defvjp(lambda x: (scaled(x), None), lambda _, ct: (5.0 * ct,))


def body(x: Any) -> Any:
    """A program with everything that transformations meet."""
    carry, ys = lax.scan(lambda c, row: (dnp.sin(c) + row, c * row), x[0], x)
    once = lax.cond(carry.sum() > 0, lambda c: c * 2, lambda c: c - 1, carry)
    more = dovetail.checkpoint(lambda c: dnp.exp(c) * scaled(c))(once)
    return (ys.sum() + more.sum()) * dovetail.jit(dnp.cos)(x).sum()


def loop(x: Any) -> Any:
    return lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, dnp.tanh(s[1])), (0, x))[1]


@dovetail.jit
def filled(ref: Any, x: Any) -> Any:
    ref[0] += x[1]
    return ref[...]


def transformed() -> Iterator[Any]:
    """Programs, their derivatives and what is derived from these."""
    yield dovetail.jit(body)(X), dovetail.grad(body)(X), dovetail.value_and_grad(body)(X)
    yield dovetail.jvp(body, (X,), (X,)), dovetail.linearize(dovetail.jit(loop), X)[1](X)
    yield dovetail.vmap(body)(np.stack([X, X])), dovetail.jacrev(loop_sum)(X)
    yield str(dovetail.make_jaxpr(body)(X)), dovetail.eval_shape(body, X).shape
    yield filled(dovetail.new_ref(dnp.asarray(X)), X)
    yield dovetail.pure_callback(np.sin, dovetail.ShapeDtypeStruct((2, 3), "float32"), X)
    with dovetail.enable_x64(True):
        yield dovetail.jit(body)(X.astype("float64"))


def loop_sum(x: Any) -> Any:
    return lax.scan(lambda c, row: (c * row, None), x[0], x)[0]


def divided() -> Iterator[Any]:
    """Arrays and programs on a mesh."""
    mesh = dovetail.make_mesh((1,), ("i",))
    spec = dovetail.P("i")
    placed = dovetail.device_put(X, dovetail.NamedSharding(mesh, spec))
    total = partial(lax.psum, axis_name="i")
    yield dovetail.shard_map(total, mesh=mesh, in_specs=spec, out_specs=dovetail.P())(placed)
    yield dovetail.jit(lambda x: x * 2)(placed)


def programs() -> list[Any]:
    """The results of all of it, as NumPy's arrays."""
    result = [*operations(), *draws(), *transformed(), *divided()]
    leaves = dovetail.tree.leaves(result)
    return [x if isinstance(x, (str, int)) else np.asarray(x) for x in leaves]


def functions_with_caches() -> list[Any]:
    """What ``functools`` has made for modules of the product."""
    kind = type(cached(permanent="a type")(len))
    modules = [m for n, m in [*sys.modules.items()] if n.startswith(("dovetail_", "dovetail."))]
    return [x for m in modules for x in vars(m).copy().values() if isinstance(x, kind)]


def emptied() -> dict[int, int]:
    """The entries of all caches after ``clear_caches``, where there are any."""
    dovetail.clear_caches()
    return {id(c): n for c in caches() if (n := entries_in(c))}


@pytest.fixture(scope="module")
def before() -> list[Any]:
    return programs()


def test_every_cache_is_emptied_and_results_are_equal(before: list[Any]) -> None:
    full = [c for c in caches() if entries_in(c)]
    kinds = {k: sum(isinstance(c, k) for c in full) for k in (Cache, WeakTable)}
    assert kinds[Cache] > 100 and kinds[WeakTable] >= 2
    assert sum(hasattr(c, "cache_info") for c in full) > 20
    gc.collect()
    assert emptied() == {}
    for x, y in zip(before, programs(), strict=True):
        np.testing.assert_array_equal(x, y)


def test_every_function_with_a_cache_is_listed_or_permanent(before: list[Any]) -> None:
    known = {id(c) for c in caches()}
    result = functions_with_caches()
    assert len(result) > 30
    for f in result:
        permanent = f.cache_parameters()["maxsize"] is None
        allowed = f.__module__.endswith("xla.shardings")  # the adapter empties its own
        assert (id(f) in known) != permanent or allowed, f.__qualname__


def closing_over(x: Any) -> Callable[..., Any]:
    return dovetail.jit(lambda y: dnp.sin(y) * x)


def used(f: Callable[..., Any]) -> np.ndarray[Any, Any]:
    dovetail.grad(lambda y: f(y).sum())(2.0)
    return np.asarray(f(2.0))


def test_the_memory_of_arrays_is_free_afterwards() -> None:
    """Also where the program is kept: its executable had copies of what it closes over."""
    array = dnp.arange(1000.0) + 1
    of_array = weakref.ref(array)
    first = used(closing_over(array))
    kept = dovetail.make_jaxpr(lambda y: dnp.cos(y) + y)(dnp.ones(3))
    executable = weakref.ref(kept.memo("an executable", lambda: closing_over(3.0)))
    np.testing.assert_array_equal(used(closing_over(array)), first)
    del array
    dovetail.clear_caches()
    gc.collect()
    assert of_array() is None
    assert executable() is None and kept.known("an executable") is None
