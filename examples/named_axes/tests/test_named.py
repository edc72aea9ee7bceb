"""Named arrays, compared with NumPy's einsum and with arrays in an order written by hand."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from acme_named_axes import (
    AxisError,
    Named,
    apply,
    dot,
    index,
    named,
    names_of,
    reduce,
    rename,
    scan,
    values,
)

import dovetail
from dovetail import grad, jit, lax, numpy as dnp, ref as dref, vmap
from dovetail.hijax import lower_to_lo

f32 = np.float32
RNG = np.random.default_rng(0)


def draw(*shape):
    return RNG.normal(size=shape).astype(f32)


XA, WA, BA, TA = draw(2, 3), draw(3, 4), draw(4), draw(5, 2, 3)
X, W, B = named(XA, "batch", "feature"), named(WA, "feature", "out"), named(BA, "out")
T = named(TA, "time", "batch", "feature")


def close(found, wanted, *names):
    array = values(found, *names) if isinstance(found, Named) else found
    np.testing.assert_allclose(array, wanted, rtol=1e-5, atol=1e-6)


def layer(x, w, b):
    return apply(dnp.tanh, dot(x, w, "feature") + b)


LAYER = np.tanh(XA @ WA + BA)


def test_what_they_are():
    assert isinstance(X, Named) and names_of(X) == X.axis_names == ("batch", "feature")
    assert X.sizes == {"batch": 2, "feature": 3} and names_of(XA) == ()
    np.testing.assert_array_equal(values(X, "feature", "batch"), XA.T)
    assert repr(named(np.float32([1, 2]), "a")) == "f32[a:2] [1. 2.]"
    traced = []

    @jit
    def look(x):
        traced.append((x.axis_names, x.sizes))
        return x

    look(X)
    assert traced == [(("batch", "feature"), {"batch": 2, "feature": 3})]


@pytest.mark.parametrize("order", [*permutations(["batch", "feature", "time"])])
def test_elementwise_operations_align_by_name(order):
    x = named(np.einsum("tbf->" + "".join(n[0] for n in order), TA), *order)
    for found, wanted in [
        (x + X, TA + XA), (X - x, XA - TA), (x * 2.0, TA * 2),
        (1.0 / (x * x + 1.0), 1 / (TA**2 + 1)),
        (-x, -TA), (x**2.0, TA**2), (apply(dnp.maximum, X, x), np.maximum(XA, TA)),
    ]:  # fmt: skip
        close(found, wanted, "time", "batch", "feature")
    close(apply(dnp.where, x > X, x, 0.0), np.where(TA > XA, TA, 0), "time", "batch", "feature")
    outer = B * X
    assert names_of(outer) == ("out", "batch", "feature")
    close(outer, np.einsum("o,bf->obf", BA, XA), "out", "batch", "feature")


def test_reductions_by_name():
    close(T.sum("batch"), TA.sum(1), "time", "feature")
    close(T.mean("feature", "time"), TA.mean((0, 2)), "batch")
    close(T.max("time"), TA.max(0), "batch", "feature")
    close(reduce(dnp.var, T, "time"), TA.var(0), "batch", "feature")
    assert names_of(T.sum()) == () and float(T.min()) == TA.min()


def test_contractions():
    close(dot(X, W, "feature"), XA @ WA, "batch", "out")
    close(dot(W, X, "feature"), XA @ WA, "batch", "out")
    close(dot(T, W, "feature"), TA @ WA, "time", "batch", "out")
    close(dot(T, X, "feature"), np.einsum("tbf,bf->tb", TA, XA), "time", "batch")
    close(dot(T, X, "feature", "batch"), np.einsum("tbf,bf->t", TA, XA), "time")
    close(dot(X, X, "batch", "feature"), np.sum(XA * XA))
    close(dot(X, B), np.einsum("bf,o->bfo", XA, BA), "batch", "feature", "out")


def test_indexing_and_renaming():
    close(index(T, time=1), TA[1], "batch", "feature")
    close(index(T, feature=slice(0, 2), batch=-1), TA[:, -1, :2], "time", "feature")
    close(rename(X, feature="in"), XA, "batch", "in")
    swapped = rename(X, feature="batch", batch="feature")
    close(swapped, XA.T, "batch", "feature")


@pytest.mark.parametrize("wrap", [jit, dovetail.remat, lambda f: f])
def test_values_and_gradients(wrap):
    close(wrap(layer)(X, W, B), LAYER, "batch", "out")
    loss = lambda x, w, b: wrap(layer)(x, w, b).sum()  # noqa: E731
    slope = 1 - LAYER**2
    dx, dw, db = grad(loss, (0, 1, 2))(X, W, B)
    close(dx, slope @ WA.T, "batch", "feature")
    close(dw, XA.T @ slope, "feature", "out")
    close(db, slope.sum(0), "out")
    _, tangent = dovetail.jvp(wrap(layer), (X, W, B), (X, W, B))
    close(tangent, slope * (2 * XA @ WA + BA), "batch", "out")
    step = W - 0.1 * dw
    close(step, WA - 0.1 * XA.T @ slope, "feature", "out")


def test_second_derivatives():
    f = lambda b: apply(dnp.sin, b * b).sum()  # noqa: E731
    second = grad(lambda b: grad(f)(b).sum())(B)
    close(second, 2 * np.cos(BA**2) - 4 * BA**2 * np.sin(BA**2), "out")


def test_mapping_over_a_named_axis():
    one = lambda x: layer(x, W, B)  # noqa: E731
    for wrap in (lambda f: f, jit):
        found = wrap(vmap(one, in_axes=("batch",), out_axes="batch"))(X)
        close(found, LAYER, "batch", "out")
        close(wrap(vmap(lambda x: x.sum(), in_axes=("feature",)))(X), XA.sum(0))
    by_column = vmap(lambda w, b: dot(X, w, "feature") + b, in_axes=("out", "out"), out_axes="out")
    assert names_of(by_column(W, B)) == ("out", "batch")
    close(apply(dnp.tanh, by_column(W, B)), LAYER, "batch", "out")
    each = vmap(lambda b: lax.fori_loop(0, 2, lambda i, c: c * b, b), ("out",), "out")
    close(each(B), BA**3, "out")
    sums = vmap(lambda x: x.max("feature") - dot(x, x, "feature"), ("batch",), "batch")
    close(sums(X), XA.max(1) - (XA**2).sum(1), "batch")
    inside = vmap(lambda x: named(x, "feature") * 2.0, out_axes="batch")(XA)
    close(inside, 2 * XA, "batch", "feature")
    close(rename(vmap(one, in_axes=("batch",))(X), "rows"), LAYER, "rows", "out")


def test_mapping_twice():
    """Inner and outer maps of results, gradients, and axes that only one of them sees."""
    f = lambda t: apply(dnp.sin, t) * 2.0  # noqa: E731
    twice = vmap(vmap(f, ("time",), "time"), ("batch",), "batch")
    close(twice(T), 2 * np.sin(TA), "time", "batch", "feature")
    close(jit(twice)(T), 2 * np.sin(TA), "time", "batch", "feature")
    slopes = vmap(grad(lambda w, x: layer(x, w, B).sum()), (None, "batch"), "batch")(W, X)
    close(slopes.sum("batch"), grad(lambda w: layer(X, w, B).sum())(W).array, "feature", "out")
    rows = lambda x: vmap(lambda w: dot(x, w, "feature"), ("out",), "out")(W)  # noqa: E731
    close(vmap(rows, ("batch",), "batch")(X), XA @ WA, "batch", "out")
    some = grad(lambda w: vmap(lambda x: layer(x, w, B).sum(), ("batch",))(X).sum())(W)
    close(some, XA.T @ (1 - LAYER**2), "feature", "out")


def test_loops():
    wanted_last, wanted = np.zeros((2, 3), f32), []
    for t in TA:
        wanted_last = np.tanh(wanted_last + t)
        wanted.append(wanted_last.sum(0))

    def run(xs, init):
        def step(c, x):
            new = apply(dnp.tanh, x + c)  # the axes of x come first: the carry keeps its own order
            return new, {"sum": new.sum("batch"), "all": new.sum()}

        return scan(step, init, xs, "time")

    init = named(np.zeros((3, 2), f32), "feature", "batch")
    for xs in (T, named(TA.transpose(1, 2, 0), "batch", "feature", "time")):
        for wrap in (lambda f: f, jit):
            last, ys = wrap(run)(xs, init)
            close(last, wanted_last, "batch", "feature")
            assert names_of(last) == ("feature", "batch") and names_of(ys["sum"])[0] == "time"
            close(ys["sum"], np.stack(wanted), "time", "feature")
            close(ys["all"], np.stack(wanted).sum(1), "time")


def test_gradients_and_maps_of_loops():
    def run(xs):
        step = lambda c, x: (apply(dnp.tanh, c + x), None)  # noqa: E731
        return scan(step, index(xs, time=0) * 0.0, xs, "time")[0].sum()

    def plain(a):
        return lax.scan(lambda c, x: (dnp.tanh(c + x), None), a[0] * 0, a)[0].sum()

    close(grad(run)(T), grad(plain)(dnp.asarray(TA)), "time", "batch", "feature")
    found = vmap(grad(run), in_axes=("batch",), out_axes="batch")(T)
    close(found, vmap(grad(plain), 1, 1)(TA), "time", "batch", "feature")

    def sums(xs):
        return scan(lambda c, x: (x + c, c), index(xs, time=0) * 0.0, xs, "time")[1]

    each = vmap(vmap(sums, ("batch",), "batch"), ("feature",), "feature")
    close(each(T), np.cumsum(TA, 0) - TA, "time", "batch", "feature")
    by_axis = vmap(run, in_axes=("batch",))(T)
    close(by_axis, vmap(plain, 1)(TA))


def test_other_loops_and_branches():
    close(lax.fori_loop(0, 3, lambda i, c: c * 2.0 + B, B), 15 * BA, "out")
    double = lambda c: c * 2.0  # noqa: E731
    close(lax.while_loop(lambda c: c.sum() < 100.0, double, B * B), BA**2 * 2 ** np.ceil(
        np.log2(100 / np.sum(BA**2))), "out")  # fmt: skip
    found = jit(lambda p, x: lax.cond(p, double, lambda x: x, x))(True, X)
    close(found, 2 * XA, "batch", "feature")
    stacked = lax.scan(lambda c, _: (c * 2.0, c), B, None, length=3)[1]
    close(rename(stacked, "step"), np.stack([BA, 2 * BA, 4 * BA]), "step", "out")


def test_references():
    place = dref.new_ref(W)

    @jit
    def train(place, x):
        for _ in range(2):
            place[...] = place[...] - 0.1 * grad(lambda w: layer(x, w, B).sum())(place[...])
        return layer(x, place[...], B).sum()

    loss = train(place, X)
    w = WA
    for _ in range(2):
        w = w - 0.1 * XA.T @ (1 - np.tanh(XA @ w + BA) ** 2)
    close(place[...], w, "feature", "out")
    close(loss, np.tanh(XA @ w + BA).sum())

    def inside(x):
        sums = dref.new_ref(x.sum("batch") * 0.0)
        lax.fori_loop(0, 2, lambda i, _: sums.__setitem__(..., sums[...] + index(x, batch=0)), None)
        return sums[...]

    close(jit(inside)(X), 2 * XA[0], "feature")


def test_whole_numbers_have_no_gradient():
    counts = named(np.arange(4), "out")
    f = lambda b: (b * counts).sum()  # noqa: E731
    close(grad(f)(B), np.arange(4.0), "out")
    close(jit(lambda c: c + 1)(counts), np.arange(1, 5), "out")


def attention(q, k, v):
    scores = dot(q, k, "feature") / np.float32(np.sqrt(q.sizes["feature"]))
    e = apply(dnp.exp, scores - scores.max("position"))
    return dot(e / e.sum("position"), v, "position")


def by_position(q, k, v):
    scores = dnp.einsum("bhqf,bhpf->bhqp", q, k) / np.float32(np.sqrt(q.shape[-1]))
    e = dnp.exp(scores - scores.max(-1, keepdims=True))
    return dnp.einsum("bhqp,bhpf->bhqf", e / e.sum(-1, keepdims=True), v)


def test_the_order_of_axes_does_not_matter():
    """The figure of the README: keys whose axes come in every order."""
    axes = ("batch", "head", "position", "feature")
    q, k, v = (draw(4, 4, 4, 4) for _ in range(3))
    wanted = by_position(q, k, v)
    query = named(q, "batch", "head", "query", "feature")
    right = {"names": 0, "positions": 0}
    for order in permutations(range(4)):
        turned = k.transpose(order)
        found = attention(query, named(turned, *[axes[i] for i in order]), named(v, *axes))
        close(found, wanted, "batch", "head", "query", "feature")
        right["names"] += 1
        right["positions"] += np.allclose(by_position(q, turned, v), wanted, atol=1e-5)
    assert right == {"names": 24, "positions": 1}


def test_names_cost_nothing():
    """The program is as long as that by position, in whatever order the axes come."""
    axes = ("batch", "head", "position", "feature")
    q, k, v = (draw(4, 4, 4, 4) for _ in range(3))
    plain = sorted(e.primitive.name for e in dovetail.make_jaxpr(by_position)(q, k, v).eqns)
    query, value = named(q, *axes[:2], "query", "feature"), named(v, *axes)
    for order in permutations(axes):
        program = dovetail.make_jaxpr(attention)(query, named(k, *order), value)
        assert sorted(e.primitive.name for e in lower_to_lo(program).eqns) == plain
    assert len(plain) == 10


ERRORS = [
    (lambda x, w: x + rename(w, out="batch"),
     r"add: axis 'batch' has length 2 in f32\[batch:2 feature:3\] and 4 in "
     r"f32\[feature:3 batch:4\]",
     "Rename or slice one of them"),
    (lambda x, w: x.sum("time"),
     r"there is no axis 'time' in f32\[batch:2 feature:3\]", "It has 'batch', 'feature'"),
    (lambda x, w: dot(x, w, "out"),
     r"there is no axis 'out' in f32\[batch:2 feature:3\]", "It has 'batch', 'feature'"),
    (lambda x, w: dot(x, rename(index(w, feature=slice(2)), out="b"), "feature"),
     r"dot: axis 'feature' has length 3 in f32\[batch:2 feature:3\] and 2 in f32\[feature:2 b:4\]",
     "Rename or slice"),
    (lambda x, w: x * XA,
     r"mul: an array of type f32\[2,3\] has no names for its axes", "Give them"),
    (lambda x, w: dot(x, XA, "feature"),
     r"dot: an array of type f32\[2,3\] has no names", "Give them"),
    (lambda x, w: named(XA, "a"),
     r"named: an array of type f32\[2,3\] cannot have the axes \('a'\)",
     "Give one name for each axis, each once"),
    (lambda x, w: named(XA, "a", "a"), r"cannot have the axes \('a', 'a'\)", "Give one name"),
    (lambda x, w: values(x, "batch"),
     r"values: the axes of f32\[batch:2 feature:3\] are not \('batch'\)",
     "Name all of them: 'batch', 'feature'"),
    (lambda x, w: rename(x, batch="feature"),
     r"rename: f32\[batch:2 feature:3\] cannot have the axes \('feature', 'feature'\)",
     "Give each name once"),
    (lambda x, w: rename(x, time="t"), "there is no axis 'time'", "It has"),
    (lambda x, w: index(x, time=0), "there is no axis 'time'", "It has"),
    (lambda x, w: vmap(lambda x: x)(x),
     r"axis 'batch' of f32\[batch:2 feature:3\] is mapped by its position 0",
     r"Name it: vmap\(f, in_axes=\('batch',\)\), or scan\(f, init, xs, 'batch'\)"),
    (lambda x, w: lax.scan(lambda c, t: (c, t), 0.0, x),
     "axis 'batch' of .* is mapped by its position", "Name it"),
    (lambda x, w: vmap(lambda x: x, in_axes=("time",))(x), "there is no axis 'time'", "It has"),
    (lambda x, w: scan(lambda c, t: (c, t), 0.0, x, "time"), "there is no axis 'time'", "It has"),
    (lambda x, w: vmap(lambda x: x, in_axes=("batch",), out_axes="feature")(x),
     r"f32\[feature:3\] has an axis 'feature' already", "Take another name"),
    (lambda x, w: vmap(lambda x: x, in_axes=("batch",))(x).sum("feature"),
     r"sum: an axis of f32\[_:2 feature:3\] has no name", "Name it: rename"),
    (lambda x, w: values(XA, "a"), r"an array of type f32\[2,3\] has no names", "Give them"),
]  # fmt: skip


@pytest.mark.parametrize("f, message, remedy", ERRORS)
@pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["", "jit"])
def test_errors_name_the_axis_the_line_and_the_remedy(f, message, remedy, wrap):
    with pytest.raises(AxisError, match=rf"{message}.* at .*test_named\.py:\d+ .*\. {remedy}"):
        wrap(f)(X, W)


def test_a_loop_must_keep_its_axes():
    with pytest.raises(
        TypeError, match=r"f32\[out:4\] in the input and f32\[out:4 batch:2 feature:3\]"
    ):
        lax.fori_loop(0, 3, lambda i, c: c * X, B)


def test_branches_and_loops_that_are_mapped():
    flags = np.array([True, False, True])
    choose = lambda p, b: lax.cond(p, lambda b: b, lambda b: b * 2.0, b)  # noqa: E731
    chosen = vmap(choose, in_axes=(0, None), out_axes="flag")
    scale = np.where(flags, 1, 2).astype(f32)
    close(chosen(flags, B), scale[:, None] * BA, "flag", "out")
    slope = grad(lambda b: apply(dnp.sin, chosen(flags, b)).sum())(B)
    close(slope, (scale[:, None] * np.cos(scale[:, None] * BA)).sum(0), "out")
    until = lambda n: lax.while_loop(lambda c: c.sum() < n, lambda c: c * 2.0, B * B)  # noqa: E731
    limits = np.float32([1e1, 1e3])
    times = [2 ** max(0, np.ceil(np.log2(n / np.sum(BA**2)))) for n in limits]
    close(vmap(until, out_axes="limit")(limits), np.outer(times, BA**2), "limit", "out")
