"""Patterns of functions, exact where they can be, and among other transformations."""

from __future__ import annotations

import numpy as np
import pytest
from acme_sparsity import pattern_rules, sparsity

import dovetail
from dovetail import grad, jit, lax, numpy as dnp, vmap
from dovetail_core import primitives, registry
from dovetail_core.registry.plugins import load_object

f32 = np.float32
N = 6
X = np.linspace(0.5, 2.0, N).astype(f32)
EYE = np.eye(N, dtype=bool)
FULL = np.ones((N, N), bool)


def pattern(f, x=X):
    return np.asarray(sparsity(f)(x))


def laplacian(u):
    return dnp.pad(u[:-1], (1, 0)) - 2 * u + dnp.pad(u[1:], (0, 1)) + dnp.sin(u)


def covers(f, x=X, points=3):
    """The pattern, which has all nonzeros of Jacobians at random points."""
    found = pattern(f, x)
    rng = np.random.default_rng(0)
    for _ in range(points):
        at = (x + rng.normal(size=x.shape)).astype(x.dtype)
        jacobian = np.asarray(dovetail.jacfwd(f)(at)).reshape(found.shape)
        assert not np.any((jacobian != 0) & ~found)
    return found


BESIDE = np.eye(N, k=1, dtype=bool) | np.eye(N, k=-1, dtype=bool)
BLOCKS = np.kron(np.eye(2, dtype=bool), np.ones((3, 3), bool))
TRIDIAGONAL = EYE | BESIDE
FROM_0 = np.outer(np.ones(N, bool), EYE[0])
MOVES = np.arange(N)[::-1]
EXACT = {
    "stencil": (laplacian, TRIDIAGONAL),
    "elementwise": (lambda x: dnp.exp(x) * x / (1 + x**2), EYE),
    "reversed": (lambda x: x[::-1], EYE[::-1]),
    "known indices": (lambda x: x[MOVES] * dnp.asarray(X), EYE[::-1]),
    "rolled": (lambda x: dnp.roll(x, 1) - x, EYE | np.roll(EYE, 1, 0)),
    "difference": (lambda x: x[1:] - x[:-1], EYE[1:] | EYE[:-1]),
    "prefix": (dnp.cumsum, np.tril(FULL)),
    "greatest prefix": (lax.cummax, np.tril(FULL)),
    "sum": (dnp.sum, FULL[:1]),
    "lines": (lambda x: x.reshape(2, 3).max(1), np.repeat(np.eye(2, dtype=bool), 3, 1)),
    "known zeros": (lambda x: x * (np.arange(N) % 2), EYE & (np.arange(N) % 2 > 0)),
    "matrix": (lambda x: np.tri(N, k=-1, dtype=f32) @ x, np.tri(N, k=-1) > 0),
    "convolution": (lambda x: dnp.convolve(x, np.array([1, 0, 2], f32), "same"), BESIDE),
    "written": (lambda x: dnp.zeros(N).at[2].set(x[0]), np.outer(EYE[2], EYE[0])),
    "added": (lambda x: x.at[np.array([0, 0])].add(x[4:]), EYE | np.outer(EYE[0], EYE[4] | EYE[5])),
    "steps": (lambda x: dnp.floor(x) + (x > 1), ~FULL),
    "held": (lambda x: lax.stop_gradient(x), ~FULL),
    "known choice": (
        lambda x: dnp.where(np.arange(N) < 3, x, x[0]),
        np.where(MOVES[:, None] > 2, EYE, FROM_0),
    ),
    "uncertain choice": (lambda x: dnp.where(x > 1, x, x[0]), EYE | FROM_0),
    "sorted": (lambda x: dnp.sort(x.reshape(2, 3)).reshape(-1), BLOCKS),
    "through integers": (lambda x: x.astype("int32").astype("float32"), ~FULL),
    "constant": (lambda x: dnp.ones(3), ~FULL[:3]),
}


@pytest.mark.parametrize("name", EXACT)
def test_exact_patterns(name):
    f, expected = EXACT[name]
    np.testing.assert_array_equal(covers(f), expected)


def test_what_is_not_known_is_everything():
    for f in (
        lambda x: x[(x[0] > 1).astype("int32")],
        lambda x: dnp.fft.fft(x).real,
        lambda x: dnp.linalg.inv(x[:4].reshape(2, 2)),
    ):
        found = covers(f)
        used = found.any(0)
        np.testing.assert_array_equal(found, np.broadcast_to(used, found.shape))


def test_trees():
    x = {"a": X[:2], "b": X[2:].reshape(2, 2)}
    found = pattern(lambda t: (t["b"].T, t["a"][0]), x)
    np.testing.assert_array_equal(found, EYE[[2, 4, 3, 5, 0]])


def test_branches_are_joined():
    f = lambda x: lax.cond(x[0] > 1, lambda x: x, lambda x: x[::-1], x)  # noqa: E731
    np.testing.assert_array_equal(covers(f), EYE | EYE[::-1])
    known = lambda x: lax.cond(np.bool_(True), lambda x: x, lambda x: x[::-1], x)  # noqa: E731
    np.testing.assert_array_equal(covers(known), EYE)
    several = lambda x: lax.switch(  # noqa: E731
        x[0].astype("int32"), [lambda x: x, lambda x: 0 * x, lambda x: dnp.roll(x, 1)], x
    )
    np.testing.assert_array_equal(covers(several), EYE | np.roll(EYE, 1, 0))


def shift(v):
    return dnp.pad(v[:-1], (1, 0))


def band(width):
    return np.tril(FULL) & np.triu(FULL, -width)


def test_loops_of_known_length():
    for_loop = lambda x: lax.fori_loop(0, 2, lambda i, v: v + shift(v), x)  # noqa: E731
    np.testing.assert_array_equal(covers(for_loop), band(2))
    scan = lambda x: lax.scan(lambda c, _: (dnp.sin(c) + shift(c),) * 2, x, None, 3)  # noqa: E731
    np.testing.assert_array_equal(pattern(lambda x: scan(x)[0]), band(3))
    each = covers(lambda x: scan(x)[1])
    np.testing.assert_array_equal(each, np.concatenate([band(1), band(2), band(3)]))


def test_slices_of_a_scan():
    prefix = lambda x: lax.scan(lambda c, y: (c + y, c), 0.0, x)[1]  # noqa: E731
    np.testing.assert_array_equal(covers(prefix), np.tril(FULL, -1))


def test_a_counter_is_known():
    f = lambda x: lax.fori_loop(1, N, lambda i, v: v.at[i].add(x[i - 1]), x)  # noqa: E731
    np.testing.assert_array_equal(covers(f), band(1))


def test_a_loop_that_ends_nobody_knows_when():
    f = lambda x: lax.while_loop(lambda v: v[-1] < 9, lambda v: v + 1 + shift(v), x)  # noqa: E731
    np.testing.assert_array_equal(covers(f), np.tril(FULL))
    grow = lambda s: (s[0] + shift(s[0]), s[1] + 1, s[2])  # noqa: E731
    g = lambda x: lax.while_loop(lambda s: s[0].max() < 9, grow, (x, 0, x[0]))  # noqa: E731
    last, count, kept = np.split(pattern(g), [N, N + 1])
    np.testing.assert_array_equal(last, np.tril(FULL))
    assert not count.any()
    np.testing.assert_array_equal(kept, EYE[:1])


def test_no_rule_is_declared_for_control_flow():
    for manifest in registry().active.values():
        for module in manifest.primitives:
            load_object(module)
    for name in ("cond", "while", "scan", "jit", "remat2"):
        assert pattern_rules.get(primitives()[name]) is not None
        assert pattern_rules.is_derived(primitives()[name])


TRANSFORMED = {
    "jit": jit(laplacian),
    "jit in jit": jit(lambda u: jit(laplacian)(u)),
    "checkpoint": dovetail.checkpoint(laplacian),
    "jvp": lambda u: dovetail.jvp(laplacian, (u,), (X,))[1] + laplacian(u),
    "vjp": lambda u: dovetail.vjp(laplacian, u)[1](u)[0],
    "vmap": lambda u: vmap(laplacian)(dnp.stack([u, 2 * u]))[1],
    "vmap of scan": lambda u: lax.scan(
        lambda c, _: (vmap(laplacian)(c), None), u[None], None, length=1
    )[0][0],
    "grad": grad(lambda u: dnp.sum(laplacian(u) * u) / 2),
    "grad of scan": grad(
        lambda u: (
            lax.scan(lambda c, _: (c + dnp.sum(u[1:] * u[:-1] + u[0] ** 2), None), 0.0, None, 2)[0]
            + dnp.sum(u**2)
        )
    ),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_of_transformed_functions(name):
    np.testing.assert_array_equal(covers(TRANSFORMED[name]), TRIDIAGONAL)


def test_transformed():
    np.testing.assert_array_equal(jit(sparsity(laplacian))(X), TRIDIAGONAL)
    many = vmap(sparsity(laplacian), axis_size=2, in_axes=None)(X)
    np.testing.assert_array_equal(many, [TRIDIAGONAL] * 2)
    scaled = lambda a: sparsity(lambda u: u * a)(X)  # noqa: E731
    np.testing.assert_array_equal(
        vmap(scaled)(np.eye(2, N, dtype=f32)), [np.diag(EYE[i]) for i in (0, 1)]
    )
    in_loop = lax.scan(lambda c, a: (c, scaled(a)), 0, np.eye(2, N, dtype=f32))[1]
    np.testing.assert_array_equal(in_loop, [np.diag(EYE[i]) for i in (0, 1)])
    # Of masks nothing is differentiable: patterns are constants to derivatives.
    assert float(grad(lambda a: dnp.sum(dnp.where(sparsity(lambda u: u * a)(X), a, 0)))(2.0)) == N


def test_references():
    def f(x):
        ref = dovetail.new_ref(dnp.zeros(N))
        ref[:] = shift(x)

        def step(i, _):
            ref[i] += x[i]
            return _

        lax.fori_loop(0, N, step, 0)
        return ref[...]

    np.testing.assert_array_equal(covers(f), band(1))
    np.testing.assert_array_equal(pattern(jit(f)), band(1))


def test_derivatives_that_an_author_gave():
    """A straight-through estimator depends on nothing, and its derivative on everything it saw."""

    @dovetail.custom_jvp
    def rounded(x):
        return dnp.round(x)

    rounded.defjvp(lambda primals, tangents: (rounded(*primals), tangents[0]))
    f = lambda x: rounded(shift(x) * 2)  # noqa: E731
    np.testing.assert_array_equal(covers(f), np.eye(N, k=-1, dtype=bool))
    np.testing.assert_array_equal(pattern(jit(f)), np.eye(N, k=-1, dtype=bool))
    np.testing.assert_array_equal(pattern(vmap(f), X[None]), np.eye(N, k=-1, dtype=bool))

    @dovetail.custom_vjp
    def held(x):
        return dnp.round(x)

    held.defvjp(lambda x: (held(x), None), lambda _, ct: (ct,))
    found = pattern(held)
    jacobian = np.asarray(dovetail.jacrev(held)(X))
    assert not np.any((jacobian != 0) & ~found)


def test_callbacks_and_effects(capsys):
    def f(x):
        dovetail.debug.print("{}", x)
        return dovetail.pure_callback(lambda y: np.asarray(y), x, x[:3])

    np.testing.assert_array_equal(pattern(f), np.outer(np.ones(N, bool), np.arange(N) < 3))
    assert capsys.readouterr().out == ""


def test_a_third_partys_primitive_by_its_traits():
    from dovetail_core import Primitive

    halved = Primitive("acme.halved", anonymous=True)
    halved.def_abstract_eval(lambda x: x)
    np.testing.assert_array_equal(pattern(lambda x: halved.bind(x)), FULL)
    halved.def_traits(elementwise=True)
    np.testing.assert_array_equal(pattern(lambda x: halved.bind(x)), EYE)


def test_inputs_that_have_no_derivative():
    with pytest.raises(TypeError, match=r"an input has type i32\[3\], and is to be real"):
        sparsity(lambda x: x * 1.0)(np.arange(3, dtype=np.int32))
