"""What happens within ``shard_map``: derivatives, control flow, groups, callbacks."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import NamedSharding, P, lax, shard_map
from dovetail.sharding import ManualAxisType

X = np.linspace(-1, 1, 32, dtype=np.float32).reshape(8, 4)
W = np.linspace(-0.3, 0.4, 20, dtype=np.float32).reshape(4, 5)


@pytest.fixture
def on(mesh):
    def mapped(f, ins, outs, **options):
        return dt.jit(shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs, **options))

    return mapped


@pytest.mark.parametrize("check", [True, False])
def test_what_is_like_a_value_varies_as_it_does(mesh, check):
    likes = (
        dnp.zeros_like,
        dnp.ones_like,
        lambda a: dnp.full_like(a, 2),
        lambda a: lax.full_like(a, 3),
    )
    result = []

    def f(a):
        for like in likes:
            result.append(dt.typeof(like(a)).manual_axis_type)
        described = dt.eval_shape(lambda b: b.sum(0), a)
        assert described.shape == (4,)
        result.append(described.manual_axis_type or ManualAxisType())
        return lax.pcast(a, (), to="varying")

    out = shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=check)(X)
    np.testing.assert_array_equal(out, X)
    # Of axes that are not checked nothing is known, and so nothing is said.
    assert result == [ManualAxisType(varying={"x"} if check else set())] * 5
    assert result[0].empty is not check


def loss(w, a):
    return dnp.tanh(a @ w).sum()


def test_gradients_within(on):
    """With respect to what all devices have: summed, whether the loss is or not."""
    wanted = dt.grad(loss)(W, X)
    local = on(lambda w, a: dt.grad(loss)(w, a), (P(), P("x")), P())
    summed = on(lambda w, a: dt.grad(lambda w: lax.psum(loss(w, a), "x"))(w), (P(), P("x")), P())
    mean = on(lambda w, a: dt.grad(lambda w: lax.pmean(loss(w, a), "x"))(w), (P(), P("x")), P())
    for f, factor in ((local, 1), (summed, 1), (mean, 1 / 4)):
        np.testing.assert_allclose(f(W, X), factor * wanted, rtol=1e-5, atol=1e-6)
    own = on(lambda w, a: dt.grad(loss)(lax.pvary(w, "x"), a), (P(), P("x")), P("x"))(W, X)
    np.testing.assert_allclose(own.reshape(4, 4, 5).sum(0), wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(own[:4], dt.grad(loss)(W, X[:2]), rtol=1e-5, atol=1e-6)


def test_gradients_within_unchecked(on):
    """Where it is not known what is equal, a sum is one result for each device."""
    f = on(
        lambda w, a: dt.grad(lambda w: lax.psum(loss(w, a), "x"))(w),
        (P(), P("x")), P("x"), check_vma=False,
    )  # fmt: skip
    parts = [4 * dt.grad(loss)(W, X[2 * i : 2 * i + 2]) for i in range(4)]
    np.testing.assert_allclose(f(W, X), np.concatenate(parts), rtol=1e-5, atol=1e-6)
    g = on(lambda w, a: lax.psum(loss(w, a), "x"), (P(), P("x")), P(), check_vma=False)
    for a, b in zip(dt.grad(g, (0, 1))(W, X), dt.grad(loss, (0, 1))(W, X)):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_training_within(on):
    def train(w, a, mean):
        def step(w, _):
            value, g = dt.value_and_grad(lambda w: mean((a @ w) ** 2))(w)
            return w - 0.1 * g, value

        return lax.scan(step, w, None, length=3)

    f = on(lambda w, a: train(w, a, lambda v: lax.pmean(v.mean(), "x")), (P(), P("x")), P())
    for a, b in zip(f(W, X), train(W, X, dnp.mean)):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: lax.all_gather(dnp.sin(a), "x", tiled=True)[:2] * (1 + lax.axis_index("x")),
        lambda a: lax.all_gather(dnp.sin(a), ("x", "y"), axis=1).sum(1),
        lambda a: lax.psum_scatter(dnp.outer(dnp.sin(a), a), "x", tiled=True).sum(1),
        lambda a: lax.psum_scatter(dnp.stack([a, a * a, a, a]), "x") * a,
        lambda a: lax.all_to_all(dnp.outer(a, dnp.sin(a)), "x", 0, 1, tiled=True).sum(1),
        lambda a: lax.ppermute(dnp.sin(a), "x", [(0, 1), (2, 0)]) * a,
        lambda a: lax.ppermute(dnp.sin(a), ("y", "x"), [(0, 5), (3, 0)]) * a,
        lambda a: lax.pshuffle(dnp.sin(a), "y", [1, 0]) * a,
        lambda a: lax.pbroadcast(dnp.sin(a), "x", 2) * a,
        lambda a: lax.pmax(dnp.sin(a), "x") * lax.pmin(a, ("x", "y")),
        lambda a: lax.psum(dnp.sin(a), ("x", "y")) * lax.psum(1, "x") * a,
        lambda a: dt.vmap(lambda r: lax.psum(dnp.sin(r), ("x", "i")) * r, axis_name="i")(a),
    ],
)  # fmt: skip
def test_collectives_are_those_of_vmap(mesh, f):
    """Also their derivatives: each device's own instance, of which all results count."""
    v = np.linspace(-1, 1, 32, dtype=np.float32)
    spec = P(("x", "y"))
    g = shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
    over = dt.vmap(dt.vmap(f, axis_name="y"), axis_name="x")

    def whole(v):
        return over(v.reshape(4, 2, 4)).reshape(-1)

    weights = np.cos(np.arange(len(g(v))), dtype=np.float32)

    def total(h):
        return lambda v: (h(v).reshape(-1) * weights).sum()

    np.testing.assert_allclose(g(v).reshape(-1), whole(v), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        dt.jit(dt.grad(total(g)))(v), dt.grad(total(whole))(v), rtol=1e-4, atol=1e-5
    )
    rows = np.stack([v, 2 * v, 3 * v], 1)
    np.testing.assert_allclose(dt.jit(dt.vmap(g, 1))(rows)[1], g(2 * v), rtol=1e-5, atol=1e-6)


def test_groups(on):
    """Each group of positions is an axis of its own."""
    groups = {"axis_index_groups": [[0, 2], [1, 3]]}
    own, pair = X.reshape(4, 2, 4), X.reshape(2, 2, 2, 4)
    for f, wanted in (
        (lambda a: lax.psum(a, "x", **groups), [*pair.sum(0)] * 2),
        (lambda a: lax.pmean(a, "x", **groups), [*pair.mean(0)] * 2),
        (lambda a: lax.pmax(a, "x", **groups), [*pair.max(0)] * 2),
        (
            lambda a: lax.all_gather(a, "x", **groups, tiled=True),
            [own[0], own[2], own[1], own[3]] * 2,
        ),
        (
            lambda a: lax.psum_scatter(a, "x", **groups, tiled=True),
            [s[i : i + 1] for i in (0, 1) for s in pair.sum(0)],
        ),
        (
            lambda a: lax.all_to_all(a, "x", 0, 0, **groups),
            [pair[:, k, i] for i in (0, 1) for k in (0, 1)],
        ),
    ):
        g = on(f, P("x"), P("x"), check_vma=False)
        np.testing.assert_allclose(g(X), np.concatenate(wanted), rtol=1e-5, atol=1e-6)
        if "pmax" not in f.__code__.co_names:  # it is linear, so that its transpose is its own
            slope = dt.grad(lambda a, g=g: (g(a) ** 2).sum())(X)
            np.testing.assert_allclose((slope * X).sum(), 2 * (g(X) ** 2).sum(), rtol=1e-4)


def test_equal_on_all_devices(on):
    f = on(lambda a: lax.all_gather(dnp.sin(a), "x", to="invarying", tiled=True), P("x"), P())
    np.testing.assert_allclose(f(X), np.sin(X), rtol=1e-6)
    slope = dt.grad(lambda a: (f(a) ** 2).sum())(X)
    np.testing.assert_allclose(slope, 2 * np.sin(X) * np.cos(X), rtol=1e-5, atol=1e-6)


def test_control_flow(on):
    def f(a):
        i = lax.axis_index("x")
        chosen = lax.cond(i < 2, dnp.sin, lambda a: dnp.ones_like(a), a)
        many = lax.while_loop(lambda c: c[0] < i, lambda c: (c[0] + 1, c[1] * 2), (0, dnp.ones(2)))
        return chosen, many[0][None], many[1]

    chosen, rounds, powers = on(f, P("x"), P("x"))(X)
    np.testing.assert_allclose(chosen[:4], np.sin(X[:4]), rtol=1e-6)
    np.testing.assert_array_equal(chosen[4:], 1)
    np.testing.assert_array_equal(rounds, [0, 1, 2, 3])
    np.testing.assert_array_equal(powers, [1, 1, 2, 2, 4, 4, 8, 8])
    slope = dt.grad(lambda a: on(f, P("x"), P("x"))(a)[0].sum())(X)
    np.testing.assert_allclose(slope, np.where(np.arange(8)[:, None] < 4, np.cos(X), 0), rtol=1e-6)


def test_rematerialised_and_custom(on):
    wanted = dt.grad(loss)(W, X)
    f = on(dt.checkpoint(lambda w, a: lax.psum(loss(w, a), "x")), (P(), P("x")), P())
    np.testing.assert_allclose(dt.grad(f)(W, X), wanted, rtol=1e-5, atol=1e-6)

    @dt.custom_vjp
    def triple(w, a):
        return loss(w, a)

    def backward(r, ct):
        w, a = dt.grad(loss, (0, 1))(lax.pvary(r[0], "x"), r[1])
        return lax.psum(3 * ct * w, "x"), 3 * ct * a

    triple.defvjp(lambda w, a: (loss(w, a), (w, a)), backward)
    g = on(lambda w, a: lax.psum(triple(w, a), "x"), (P(), P("x")), P())
    np.testing.assert_allclose(dt.grad(g)(W, X), 3 * wanted, rtol=1e-5, atol=1e-5)
    triple.defvjp(lambda w, a: (loss(w, a), (w, a)), lambda r, ct: (ct * r[0], ct * r[1]))
    with pytest.raises(ValueError, match=r"varies over the axis 'x' of the mesh.*lax\.psum"):
        dt.grad(on(lambda w, a: lax.psum(triple(w, a), "x"), (P(), P("x")), P()))(W, X)


def test_closures_and_callbacks(mesh, on):
    def total(w):
        return shard_map(lambda a: dnp.tanh(a @ w), mesh=mesh, in_specs=P("x"), out_specs=P("x"))(X)

    np.testing.assert_allclose(
        dt.grad(lambda w: total(w).sum())(W), dt.grad(loss)(W, X), rtol=1e-5, atol=1e-6
    )
    shape = dt.ShapeDtypeStruct((2, 4), np.float32)
    f = on(lambda a: dt.pure_callback(np.sin, shape, a), P("x"), P("x"))
    np.testing.assert_allclose(f(X), np.sin(X), rtol=1e-6)


def test_program_text(mesh):
    f = shard_map(lambda a: lax.psum(a, "x"), mesh=mesh, in_specs=P("x"), out_specs=P())
    text = dt.jit(f).lower(X).as_text()
    assert "sdy.manual_computation(" in text and text.count("stablehlo.all_reduce") == 1
    assert "psum_invariant" in str(dt.make_jaxpr(f)(X))
    ring = shard_map(
        lambda a: lax.ppermute(a, "x", [(i, (i + 1) % 4) for i in range(4)]),
        mesh=mesh, in_specs=P("x"), out_specs=P("x"),
    )  # fmt: skip
    place = NamedSharding(mesh, P("x"))
    compiled = dt.jit(ring).lower(dt.device_put(X, place)).compile()
    assert "collective-permute" in compiled.as_text() and "all-gather" not in compiled.as_text()
    assert compiled.input_shardings[0][0].is_equivalent_to(place, 2)


def test_errors_of_collectives(on):
    for f, error, text in (
        (lambda a: lax.psum(a, "z"), NameError, "axis name 'z' is not bound here"),
        (
            lambda a: lax.psum(a, "x", axis_index_groups=[[0, 1], [2]]),
            ValueError,
            "groups of one length that have each of the 4 positions once",
        ),
        (
            lambda a: lax.psum(a, ("x", "y"), axis_index_groups=[[0, 1], [2, 3]]),
            NotImplementedError,
            "nor over several axes",
        ),
        (lambda a: lax.pcast(a, "x", to="x"), ValueError, "pcast: to='x' is unknown"),
        (
            lambda a: lax.all_gather(a, "x", to="reduced", axis_index_groups=[[0, 1], [2, 3]]),
            NotImplementedError,
            "to='reduced' is not supported with axis_index_groups",
        ),
    ):
        with pytest.raises(error, match=text):
            on(f, P("x"), P("x"))(X)


def test_choices_that_differ_among_devices(on):
    """What a branch closes over has one cotangent, summed where all devices come by."""

    def chosen(w, a):
        return lax.cond(lax.axis_index("x") < 2, lambda: (a @ w).sum(), lambda: a.sum())

    def in_loop(w, a):
        def step(c, _):
            return lax.cond(c.sum() < 30, lambda: c + (a @ w).sum(), lambda: c), None

        return lax.scan(step, lax.pvary(np.float32(0), "x"), None, length=3)[0]

    def nested(w, a):
        def inner():
            return lax.switch(lax.axis_index("y"), [lambda: (a * w[:, 0]).sum(), lambda: a.sum()])

        return lax.cond(lax.axis_index("x") < 2, lambda: lax.fori_loop(
            0, 2, lambda _, c: c + inner(), np.float32(0)), lambda: a.sum())  # fmt: skip

    def as_jit(w, a):
        return lax.cond(lax.axis_index("x") < 2, lambda: dt.jit(lambda: (a @ w).sum())(), a.sum)

    half = X[:4].sum(0)
    all_of_it = np.broadcast_to(half[:, None], W.shape)
    first = np.zeros_like(W)
    first[:, 0] = 2 * half
    for f, wanted in ((chosen, all_of_it), (as_jit, all_of_it), (nested, first)):
        g = on(lambda w, a, f=f: lax.psum(f(w, a), ("x", "y")), (P(), P("x")), P())
        scale = 1 if f is nested else 2
        np.testing.assert_allclose(dt.grad(g)(W, X), scale * wanted, rtol=1e-5)
        h = on(lambda w, a, f=f: dt.grad(lambda w: lax.psum(f(w, a), ("x", "y")))(w),
               (P(), P("x")), P())  # fmt: skip
        np.testing.assert_allclose(h(W, X), scale * wanted, rtol=1e-5)
    g = on(lambda w, a: lax.psum(in_loop(w, a), "x"), (P(), P("x")), P())
    parts = sum(dt.grad(lambda w, i=i: _loop_alone(w, X[2 * i : 2 * i + 2]))(W) for i in range(4))
    np.testing.assert_allclose(dt.grad(g)(W, X), parts, rtol=1e-5, atol=1e-6)


def _loop_alone(w, a):
    c = np.float32(0)
    for _ in range(3):
        c = dnp.where(c < 30, c + (a @ w).sum(), c)
    return c


def test_rounds_that_differ_among_devices(on):
    def f(w, a):
        start = lax.pvary(np.float32(0), "x")
        rounds = lax.axis_index("x")
        scheme = dt.Online(snapshots=2)
        return lax.psum(
            lax.fori_loop(0, rounds, lambda i, c: c + (a @ w).sum(), start, checkpoint=scheme), "x"
        )

    g = on(f, (P(), P("x")), P())
    wanted = sum(i * X[2 * i : 2 * i + 2].sum(0) for i in range(4))
    np.testing.assert_allclose(
        dt.grad(g)(W, X), np.broadcast_to(wanted[:, None], W.shape), rtol=1e-5
    )


def _maximum_in_jit(a):
    return lax.cond(a.sum() > 0, lambda: a, lambda: dt.jit(lambda: lax.pmax(a, "x"))())


def _sent(a):
    return lax.switch(lax.axis_index("x"), [lambda: lax.ppermute(a, "x", [(0, 1)]), lambda: a])


@pytest.mark.parametrize(
    "f, what",
    [
        (lambda a: lax.cond(a.sum() > 0, lambda: lax.psum(a, "x"), lambda: a), "the predicate"),
        (_maximum_in_jit, "the predicate"),
        (_sent, "the index"),
        (
            lambda a: lax.while_loop(lambda c: c.sum() < 9, lambda c: c + lax.pmean(c, "x"), a),
            "the condition",
        ),
        (
            lambda a: lax.while_loop(lambda c: lax.psum(c.sum(), "x") < c.sum(), dnp.sin, a),
            "the condition",
        ),
    ],
)
def test_devices_that_would_wait_for_ever(on, f, what):
    text = f"devices along the axis 'x' wait for each other, and {what} may differ along 'x'"
    with pytest.raises(ValueError, match=text):
        on(f, P("x"), P("x"))(X)


def test_choices_that_all_devices_share(on):
    f = on(
        lambda a: lax.cond(lax.psum(a.sum(), "x") > 0, lambda: lax.psum(a, "x"), lambda: 2 * a),
        P("x"), P("x"),
    )  # fmt: skip
    np.testing.assert_allclose(
        f(1 + X), np.tile((1 + X).reshape(4, 2, 4).sum(0), (4, 1)), rtol=1e-6
    )


def _own_vjp(f, fwd, bwd):
    f = dt.custom_vjp(f)
    f.defvjp(fwd, bwd)
    return f


def test_rules_of_functions_that_sum(on):
    def total(a):
        return lax.psum(a * 2, "x")

    def back(_, g):
        return (lax.pcast(g, "x", to="varying") * 3,)

    reverse = _own_vjp(total, lambda a: (total(a), a), back)
    forward = dt.custom_jvp(total)
    forward.defjvp(lambda p, t: (total(p[0]), lax.psum(t[0] * 5, "x")))
    for f, factor in ((reverse, 3), (forward, 5)):
        mapped = on(f, P("x"), P())
        for g in (mapped, dt.jit(mapped), dt.checkpoint(mapped)):
            result = dt.grad(lambda a, g=g: g(a).sum())(X)
            np.testing.assert_allclose(result, np.full_like(X, factor))
        inside = on(dt.grad(lambda a, f=f: f(a).sum()), P("x"), P("x"))
        np.testing.assert_allclose(inside(X), np.full_like(X, factor))
        pushed = dt.linearize(mapped, X)[1](X)
        np.testing.assert_allclose(pushed, factor * X.reshape(4, 2, 4).sum(0), rtol=1e-5)
