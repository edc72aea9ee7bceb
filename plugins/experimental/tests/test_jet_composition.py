"""Series among other transformations, in loops and branches, and with references."""

from __future__ import annotations

import numpy as np
import pytest
from taylor import taylor

import dovetail
from dovetail import enable_x64, grad, jit, jvp, lax, numpy as dnp, vmap
from dovetail_backends.testing import evaluated_by_reference


@pytest.fixture(autouse=True)
def _double():
    with enable_x64(True), evaluated_by_reference():
        yield


X = np.array([0.4, 1.1, 0.7])
V = np.array([0.5, -0.3, 1.2])
ORDER = 4


def same(result, wanted, rtol=1e-9):
    for x, y in zip(result, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol)


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


def whiled(x):
    def body(state):
        k, y, kept = state
        y = step(k, y, x)
        return k + 1, y, lax.dynamic_update_index_in_dim(kept, y, k, 0)

    start = (0, x, dnp.zeros((3, 3)))
    return lax.while_loop(lambda state: state[0] < 3, body, start)[1:]


def counted(x):
    """A loop whose end depends on what moves, and a branch that does."""
    y, n = lax.while_loop(lambda s: s[0][0] < 6, lambda s: (s[0] * s[0] + 1, s[1] + 1), (x, 0))
    out = lax.cond(y[0] > 3, lambda y: y * x, lambda y: y, y)
    return out, dnp.stack([y, y, y]) * n


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
    "while": whiled,
    "references": referring,
    "checkpoint": dovetail.checkpoint(scanned),
    "jit": jit(scanned),
}


@pytest.fixture(params=LOOPS)
def f(request):
    return LOOPS[request.param]


@pytest.fixture(params=[name for name in LOOPS if name != "while"])
def g(request):
    """Those with a gradient: of a while_loop there is none."""
    return LOOPS[request.param]


def total(g):
    return lambda x: (lambda y, kept: dnp.sum(y) + dnp.sum(kept * kept))(*g(x))


def test_control_flow(f):
    result, wanted = (taylor(g, ORDER)(X, V) for g in (f, plain))
    for a, b in zip(result, wanted):
        same(a, b)


def test_predicates_that_move():
    result = taylor(counted, ORDER)(X, V)

    def written_out(x):
        y = x
        for _ in range(3):  # as often as the loop turns for X
            y = y * y + 1
        return y * x, dnp.stack([y, y, y]) * 3

    value, count = X[0], 0
    while value < 6:
        value, count = value * value + 1, count + 1
    assert count == 3
    for a, b in zip(result, taylor(written_out, ORDER)(X, V)):
        same(a, b)


def test_a_loop_carries_as_many_coefficients_as_vary():
    """The counter stays one number, the linear state two coefficients."""

    def g(x):
        return lax.fori_loop(0, 5, lambda k, s: (s[0] * 2.0, s[1] + k), (x, dnp.float64(0)))

    text = str(dovetail.make_jaxpr(taylor(g, 6))(X, V))
    assert "num_carry=4" in text or text.count("f64[3]") < 25
    same(taylor(g, 6)(X, V)[1], [32 * V, 0.0])


def test_jit(f):
    g = total(f)
    wanted = taylor(total(plain), ORDER)(X, V)
    for compiled in (jit(taylor(g, ORDER)), taylor(jit(g), ORDER), jit(taylor(jit(g), ORDER))):
        same(compiled(X, V), wanted)


def test_vmap(f):
    g = total(f)
    xs, vs = np.stack([X, X[::-1], 2 * X]), np.stack([V, V, -V])
    each = [taylor(g, 3)(x, v) for x, v in zip(xs, vs)]
    wanted = [np.stack(k) for k in zip(*each)]
    same(vmap(taylor(g, 3))(xs, vs), wanted)
    same(taylor(vmap(g), 3)(xs, vs), wanted)
    shared = vmap(taylor(g, 3), (None, 0))(X, vs)
    same(shared, [np.stack(k) for k in zip(*[taylor(g, 3)(X, v) for v in vs])])


def test_grad_of_series(g):
    """The gradient of the second derivative along v is that of the plain function's."""

    def curvature(x):
        return taylor(total(g), 2)(x, V)[2]

    def nested(x):
        first = lambda x: jvp(total(plain), (x,), (V,))[1]  # noqa: E731
        return jvp(first, (x,), (V,))[1]

    wanted = grad(nested)(X)
    same([grad(curvature)(X), jit(grad(curvature))(X)], [wanted, wanted])


def test_series_of_gradients(g):
    """Derivatives of the gradient along v: the first is the Hessian times v."""
    result = taylor(grad(total(g)), 3)(X, V)
    same(result, taylor(grad(total(plain)), 3)(X, V))
    same(result[1:2], [dovetail.hessian(total(plain))(X) @ V])


def test_jvp_of_series_and_series_of_jvp(f):
    g = total(f)
    by_series = jvp(lambda x: taylor(g, 2)(x, V), (X,), (V,))[1]
    same(by_series, taylor(total(plain), 3)(X, V)[1:])
    same(taylor(lambda x: jvp(g, (x,), (V,))[1], 2)(X, V), by_series)


def test_series_of_series(f):
    """Mixed derivatives: of order 2 along u and 1 along v."""
    u = np.array([0.1, 0.9, -0.4])
    mixed = lambda g: taylor(lambda x: taylor(g, 2)(x, u)[2], 1)(X, V)[1]  # noqa: E731
    other = lambda g: taylor(lambda x: taylor(g, 1)(x, V)[1], 2)(X, u)[2]  # noqa: E731
    same([mixed(total(f)), other(total(f))], [other(total(plain))] * 2)


def test_references_that_outlive_the_pass():
    """What is written to a reference that was made outside must not depend on t."""
    seen = dovetail.new_ref(dnp.zeros(()))

    def g(x):
        seen[...] = seen[...] + 1.0
        return dnp.exp(x)

    same(taylor(g, 2)(0.0, 1.0), [1, 1, 1])
    assert float(seen[...]) == 1


def test_differential_equations():
    """The series of a solution: x'' = -sin x by its Taylor coefficients, order by order."""

    def solve(x, v, order):
        path = [x, v]
        for k in range(order - 1):
            path.append(-taylor(dnp.sin, k)(*path[: k + 1])[k])
        return path

    path = solve(0.5, 0.2, 12)
    h, n = 0.2, len(path)
    value = sum(d * h**k / np.prod(np.arange(1.0, k + 1)) for k, d in enumerate(path[:n]))

    def rk(x, v, steps=2000):
        def body(_, s):
            dt = h / steps
            acceleration = lambda s: dnp.stack([s[1], -dnp.sin(s[0])])  # noqa: E731
            k1 = acceleration(s)
            k2 = acceleration(s + dt / 2 * k1)
            k3 = acceleration(s + dt / 2 * k2)
            k4 = acceleration(s + dt * k3)
            return s + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

        return lax.fori_loop(0, steps, body, dnp.array([x, v]))[0]

    same([value], [rk(0.5, 0.2)], 1e-12)
