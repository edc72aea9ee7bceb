"""Laplacians among other transformations, in loops and branches, and with references."""

from __future__ import annotations

import os
from functools import cache

import numpy as np
import pytest
from acme_laplacian import forward_laplacian, laplacian

import dovetail
from dovetail import enable_x64, grad, jit, jvp, lax, make_jaxpr, numpy as dnp, vmap
from dovetail_backends import evaluate

FULL = os.environ.get("DOVETAIL_TEST_FULL") == "1"


@pytest.fixture(autouse=True)
def _double():
    with enable_x64(True):
        yield


X = np.array([0.4, 1.1, 0.7])
V = np.array([0.5, -0.3, 1.2])


def same(found, wanted, rtol=1e-9):
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)


def plain(x):
    """Three steps of a recurrence, written out."""
    y, kept = x, []
    for k in range(3):
        y = dnp.sin(y) * x + k if k != 1 else y * y
        kept.append(y)
    return y, dnp.stack(kept)


def step(k, y, x):
    return lax.cond(k == 1, lambda y: y * y, lambda y: dnp.sin(y) * x + k, y)


def scanned(x):
    def body(y, k):
        y = step(k, y, x)
        return y, y

    return lax.scan(body, x, np.arange(3))


def slices(x):
    """A loop over slices that vary, too."""

    def body(y, xs):
        k, row = xs
        y = step(k, y, row)
        return y, y

    return lax.scan(body, x, (np.arange(3), dnp.stack([x, x, x])))


def whiled(x):
    def body(state):
        k, y, kept = state
        y = step(k, y, x)
        return k + 1, y, lax.dynamic_update_index_in_dim(kept, y, k, 0)

    start = (0, x, dnp.zeros((3, 3)))
    return lax.while_loop(lambda state: state[0] < 3, body, start)[1:]


def referring(x):
    """A scan whose state is in references."""
    y, kept = dovetail.new_ref(x), dovetail.new_ref(dnp.zeros((3, 3)))

    def body(carry, k):
        y[...] = step(k, y[...], x)
        kept[k] = y[...]
        return carry, None

    lax.scan(body, 0, np.arange(3))
    return y[...], kept[...]


LOOPS = {
    "scan": scanned,
    "slices": slices,
    "while": whiled,
    "references": referring,
    "checkpoint": dovetail.checkpoint(scanned),
    "jit": jit(scanned),
}


@pytest.fixture(params=LOOPS)
def f(request):
    return total(LOOPS[request.param])


@pytest.fixture(params=[name for name in LOOPS if name != "while"])
def g(request):
    """Those with a gradient: of a while_loop there is none."""
    return total(LOOPS[request.param])


def total(g):
    return lambda x: (lambda y, kept: dnp.sum(y) + dnp.sum(kept * kept))(*g(x))


h = total(plain)
HESSIAN = dovetail.hessian(h)


def run(f, *args):
    """What ``f`` returns: by the NumPy reference backend, which need not compile, or by XLA."""
    return jit(f)(*args) if FULL else evaluate(make_jaxpr(f)(*args), *args)[0]


def trace(x):
    return dnp.trace(HESSIAN(x))


@cache
def slope():
    return run(grad(trace), X)


def test_control_flow(f):
    value, gradient, found = forward_laplacian(f)(X)
    same(value, h(X))
    same(gradient, grad(h)(X))
    same(found, run(trace, X))


@pytest.mark.parametrize("loop", LOOPS)
def test_results_of_loops(loop):
    found, wanted = (forward_laplacian(f)(X) for f in (LOOPS[loop], plain))
    for a, b in zip(found, wanted):
        same(a[0], b[0])
        same(a[1], b[1])


def test_predicates_that_move():
    """A loop whose end depends on the argument, and a branch that does."""

    def counted(x):
        y, n = lax.while_loop(lambda s: s[0][0] < 6, lambda s: (s[0] * s[0] + 1, s[1] + 1), (x, 0))
        return lax.cond(y[0] > 3, lambda y: y * x, lambda y: y, y) * n

    def written_out(x):
        y = x
        for _ in range(3):  # as often as the loop turns for X
            y = y * y + 1
        return y * x * 3

    for found, wanted in zip(forward_laplacian(counted)(X), forward_laplacian(written_out)(X)):
        same(found, wanted)


def test_jit(f):
    wanted = run(trace, X)
    same(jit(laplacian(f))(X), wanted)
    for compiled in (laplacian(jit(f)), jit(laplacian(jit(f)))):
        same(run(compiled, X), wanted)


def test_vmap(f):
    """Of many walkers; and of a function that is itself mapped."""
    xs = np.stack([X, X[::-1], 2 * X])
    each = [run(trace, x) for x in xs]
    same(run(vmap(laplacian(f)), xs), each)
    same(run(jit(vmap(laplacian(f))), xs), each)
    shifted = lambda x: vmap(lambda s: f(x + s))(np.array([0.0, 0.5]))  # noqa: E731
    same(run(laplacian(shifted), X), [run(trace, X + s) for s in (0.0, 0.5)])


def test_grad_of_laplacians(g):
    """A loss with a Laplacian in it, by the argument and by parameters."""
    same(run(grad(laplacian(g)), X), slope())
    same(run(jit(grad(laplacian(g))), X), slope())
    by_scale = run(grad(lambda a: laplacian(lambda x: g(a * x))(X)), 0.8)
    same(by_scale, run(grad(lambda a: a**2 * trace(a * X)), 0.8))


def test_laplacians_of_gradients(g):
    same(run(laplacian(grad(g)), X), slope())


def test_jvp_both_ways(f):
    wanted = slope() @ V
    same(run(lambda x: jvp(laplacian(f), (x,), (V,))[1], X), wanted)
    same(run(laplacian(lambda x: jvp(f, (x,), (V,))[1]), X), wanted)


def test_laplacians_of_laplacians(f):
    """The bilaplacian, which is the sum of fourth derivatives by pairs of inputs."""
    fourth = run(dovetail.jacfwd(dovetail.jacfwd(HESSIAN)), X)
    same(run(laplacian(laplacian(f)), X), np.einsum("iijj", fourth))


@pytest.mark.parametrize("loop", ["scan", "references"])
def test_evaluated_and_compiled(loop):
    """Derivatives of Laplacians that run operation by operation, and as one program of XLA."""
    both = grad(laplacian(total(LOOPS[loop])))
    same(both(X), slope())
    same(jit(both)(X), slope())


def test_a_reference_that_outlives_the_pass():
    seen = dovetail.new_ref(dnp.zeros(()))

    def f(x):
        seen[...] = seen[...] + 1.0
        return dnp.sum(dnp.exp(x))

    same(laplacian(f)(X), np.sum(np.exp(X)))
    assert float(seen[...]) == 1


def test_training_a_wave_function():
    """Gradients by parameters of the mean local energy of walkers, through jit, vmap and grad."""
    rng = np.random.default_rng(0)
    p = {"a": rng.normal(size=(3, 8)) / 2, "b": rng.normal(size=8) / 2}
    walkers = rng.normal(size=(5, 3))

    def log_psi(x, p):
        return dnp.tanh(x @ p["a"]) @ p["b"] - 0.5 * dnp.sum(x * x)

    def energy(p, derivatives):
        def local(x):
            gradient, lap = derivatives(x)
            return -0.5 * (lap + gradient @ gradient) + 0.5 * x @ x

        return dnp.mean(vmap(local)(walkers))

    def forward(p):
        return energy(p, lambda x: forward_laplacian(log_psi)(x, p)[1:])

    def by_hessian(p):
        f = lambda x: log_psi(x, p)  # noqa: E731
        return energy(p, lambda x: (grad(f)(x), dnp.trace(dovetail.hessian(f)(x))))

    same(jit(forward)(p), by_hessian(p))
    found, wanted = jit(grad(forward))(p), grad(by_hessian)(p)
    for name in p:
        same(found[name], wanted[name])
