"""Structured arrays under every transformation, compared with dense arrays."""

from __future__ import annotations

import numpy as np
import pytest
from acme_structured import (
    COO,
    Diagonal,
    LoRA,
    Zeros,
    coo,
    dense,
    diagonal,
    lora,
    structured,
    zeros,
)

import dovetail
from dovetail import grad, jit, lax, numpy as dnp, ref as dref, vmap
from dovetail_core import lower_to_lo, lower_values, raise_values, registry

f32 = np.float32
N = 4
RNG = np.random.default_rng(0)
PLACES = np.array([[0, 1], [2, 2], [0, 1], [3, 0]], np.int32)


def draw(*shape):
    return RNG.normal(size=shape).astype(f32)


def add_entries(data, front=()):
    out = np.zeros((*front, N, N), f32)
    np.add.at(out, (..., PLACES[:, 0], PLACES[:, 1]), data)
    return out


W, A, B, D, E = draw(N, N), draw(N, 2), draw(2, N), draw(N), draw(4)
X = draw(N)
# Name: trained parts, and from these the structured array and, by other means, the dense one.
KINDS = {
    "lora": ((A, B), lambda a, b: lora(W, a, b), lambda a, b: W + a @ b),
    "diagonal": ((D,), diagonal, lambda d: d[:, None] * np.eye(N, dtype=f32)),
    "coo": (
        (E,),
        lambda e: coo(e, PLACES, (N, N)),
        lambda e: sum(x * add_entries(np.eye(4, dtype=f32)[i]) for i, x in enumerate(e)),
    ),
    "zeros": ((np.zeros(0, f32),), lambda e: zeros((N, N)), lambda e: np.zeros((N, N), f32)),
}
FUNCTIONS = {
    "layer": lambda w, x: dnp.tanh(w @ x),
    "from the right": lambda w, x: dnp.sin(x @ w) * x,
    "transposed": lambda w, x: w.T @ x - x,
    "sums": lambda w, x: (w + 2.0 * w - w / 4.0) @ x,
    "entries": lambda w, x: dnp.exp(w) @ x,
    "squares": lambda w, x: (w @ w) @ x + dnp.sum(w) + dnp.sum(w * w, axis=0),
    "many": lambda w, x: dnp.einsum("ij,kj->ki", w, dnp.stack([x, 2 * x])),
    "loop": lambda w, x: lax.fori_loop(0, 3, lambda i, c: dnp.tanh(w @ c), x),
    "carried": lambda w, x: lax.fori_loop(0, 3, lambda i, v: v @ w / 2.0, w) @ x,
    "branch": lambda w, x: lax.cond(x[0] > 0, lambda w: w * 2.0, lambda w: w, w) @ x,
    "outputs": lambda w, x: lax.scan(lambda c, t: (c, w * t), 0.0, x)[1] @ x,
    "called": lambda w, x: jit(lambda w: w @ x)(w) + dovetail.checkpoint(lambda w: x @ w)(w),
    "reference": lambda w, x: into_reference(w, x),
    "mapped": lambda w, x: vmap(lambda t: w @ (t * x))(dnp.arange(3.0)),
    "mapped rows": lambda w, x: vmap(lambda row: row @ x)(w),
    "derivative": lambda w, x: grad(lambda w: dnp.sum(dnp.tanh(w @ x)))(w),
    "custom": lambda w, x: dovetail.nn.relu(dovetail.nn.softmax(w @ x)) + dovetail.nn.relu(w) @ x,
}


def into_reference(w, x):
    place = dref.new_ref(dnp.zeros((N, N)))
    place[...] = w
    place[1] = place[1] + x
    return place[...] @ x


def computed(f, *args):
    """The results of ``f(*args)``, a list, by the reference backend, which compiles nothing."""
    program = dovetail.make_jaxpr(f)(*args)
    arrays = lower_values(dovetail.tree.leaves(args), "an argument")
    low = lower_to_lo(program)
    outs = registry().backend("reference").run(low, [np.asarray(x) for x in arrays])
    return raise_values(outs, program.out_avals)


def close(found, wanted, tol=2e-5):
    np.testing.assert_allclose(found, wanted, rtol=tol, atol=tol)


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


@pytest.fixture(params=FUNCTIONS)
def function(request):
    return FUNCTIONS[request.param]


def test_values(kind, function):
    parts, make, plain = kind
    (wanted,) = computed(function, plain(*parts), X)
    close(computed(lambda w: dense(structured(function)(w, X)), make(*parts))[0], wanted)


@pytest.mark.parametrize("wrap", [lambda f: f, jit], ids=["at once", "compiled"])
def test_values_in_earnest(kind, wrap):
    parts, make, plain = kind
    function = FUNCTIONS["carried"]
    close(dense(wrap(structured(function))(make(*parts), X)), function(plain(*parts), X))


def test_gradients(kind, function):
    """In the parts, through structures that are made inside, and of structured arrays."""
    parts, make, plain = kind

    def loss(x, w):
        return dnp.sum(dnp.cos(dense(structured(function)(w, x))))

    slopes = lambda f: grad(f, (0, 1))  # noqa: E731
    plain_x, *wanted = computed(slopes(lambda x, p: loss(x, dnp.asarray(plain(*p)))), X, parts)
    inside_x, *inside = computed(slopes(lambda x, p: loss(x, make(*p))), X, parts)
    outside_x, outside = computed(slopes(loss), X, make(*parts))
    close(inside_x, plain_x)
    close(outside_x, plain_x)
    for found in (inside, trained(outside)):
        assert len(found) == len(parts)
        for x, want in zip(found, wanted):
            close(x, want)


def trained(slope):
    return [x for n in type(slope).ranks if (x := getattr(slope, n)) is not None]


def test_forward_derivatives(kind, function):
    parts, make, plain = kind
    change = tuple(draw(*p.shape) for p in parts)
    run = lambda w: dense(structured(function)(w, X))  # noqa: E731
    found = computed(lambda p, t: dovetail.jvp(lambda *p: run(make(*p)), p, t), parts, change)
    wanted = computed(lambda p, t: dovetail.jvp(lambda *p: run(plain(*p)), p, t), parts, change)
    for y, want in zip(found, wanted):
        close(y, want)


def stacks_like(parts):
    return tuple(draw(3, *p.shape) if p.size else np.zeros((3, 0), f32) for p in parts)


def test_many_structured_arrays(kind, function):
    """vmap over what they are made of, over them, over the vectors; and of their gradients."""
    parts, make, plain = kind
    stacks, xs = stacks_like(parts), draw(3, N)
    run = lambda w, x: dense(structured(function)(w, x))  # noqa: E731
    wanted = [computed(function, plain(*[s[i] for s in stacks]), X)[0] for i in range(3)]
    close(computed(vmap(lambda p: run(make(*p), X)), stacks)[0], wanted)
    (many,) = computed(vmap(lambda p: make(*p)), stacks)
    assert type(many) is type(make(*parts)) and many.shape == (3, N, N)
    close(computed(vmap(run, in_axes=(0, None)), many, X)[0], wanted)
    found = computed(vmap(run, in_axes=(None, 0)), make(*parts), xs)[0]
    close(found, [computed(function, plain(*parts), x)[0] for x in xs])
    slope = grad(lambda w: dnp.sum(run(w, X)))
    (slopes,) = computed(vmap(slope), many)
    for i in range(3):
        (want,) = computed(slope, make(*[s[i] for s in stacks]))
        for x, y in zip(trained(slopes), trained(want)):
            close(x[i], y)


def test_a_scan_over_structured_arrays(kind):
    """Layers in a stack: outside of and inside of the function of arrays; and carried."""
    parts, make, plain = kind
    stacks = stacks_like(parts)
    layers = vmap(lambda p: make(*p))(stacks)
    plain_layers = np.stack([plain(*[s[i] for s in stacks]) for i in range(3)])

    def dense_step(f):
        return lambda c, w: (dense(structured(f)(c, w)[0]), None)

    def run(layers, x, wrap=lambda f: f):
        step = wrap(lambda c, w: (dnp.tanh(w @ c), None))
        return lax.scan(step, x, layers)[0]

    (wanted,) = computed(run, plain_layers, X)
    for f in (structured(run), lambda w, x: run(w, x, dense_step)):
        close(computed(f, layers, X)[0], wanted)
        (slope,) = computed(grad(lambda w, f=f: dnp.sum(f(w, X))), layers)
        from_parts = lambda p, f=f: dnp.sum(f(vmap(lambda p: make(*p))(p), X))  # noqa: E731
        for x, want in zip(trained(slope), computed(grad(from_parts), stacks)):
            close(x, want)
    carried = lax.scan(lambda w, t: (w * 1.5, None), make(*parts), X)[0]
    close(dense(carried), 1.5**4 * plain(*parts))


def test_references_to_structured_arrays(kind):
    parts, make, plain = kind
    place = dref.new_ref(make(*parts))

    @jit
    def double(place, x):
        place[...] = place[...] * 2.0
        return dense(place[...] @ x)

    close(double(place, X), 2 * plain(*parts) @ X)
    close(dense(place[...]), 2 * plain(*parts))


def test_shared_weights_are_not_copied():
    """A spec per part: one W, and a low-rank update for each of three users."""
    a, b = draw(3, N, 2), draw(3, 2, N)
    shared = LoRA(W, a, b)
    assert shared.shape == (3, N, N)
    f = vmap(lambda w, x: w @ x, in_axes=((None, 0, 0), None))
    close(f(shared, X), (W + a @ b) @ X)
    program = str(dovetail.make_jaxpr(f)(shared, X))
    assert f"f32[3,{N},{N}]" not in program and f"f32[3,{N},2]" in program
    close(dense(shared), W + a @ b)


def test_second_derivatives():
    f = lambda d: dnp.sum(dnp.sin(diagonal(d) @ (diagonal(d) @ X)))  # noqa: E731
    found = dovetail.hessian(f)(dnp.asarray(D))
    wanted = dovetail.hessian(lambda d: dnp.sum(dnp.sin(d * d * X)))(dnp.asarray(D))
    close(found, wanted)
    w = diagonal(D)
    inner = lambda w: grad(lambda w: dnp.sum(dnp.sin(w @ w @ X)))(w).d.sum()  # noqa: E731
    close(grad(inner)(w).d, wanted.sum(0))


def test_results_keep_their_structure():
    d, w = diagonal(D), lora(W, A, B)
    assert isinstance(d @ d, Diagonal) and isinstance(d * d, Diagonal)
    assert isinstance(d + d, Diagonal) and isinstance(structured(dnp.transpose)(d), Diagonal)
    for found in (d @ w, w @ d, 2.0 * w, -w, w + W, W + w, w - W, structured(lambda w: w.T)(w)):
        assert isinstance(found, LoRA)
    close(dense(d @ w), np.diag(D) @ (W + A @ B))
    close(dense(w @ d), (W + A @ B) @ np.diag(D))
    close(dense(structured(lambda d, w: w.T @ d)(d, w)), (W + A @ B).T @ np.diag(D))
    close(dense(structured(lambda d, w: d @ w.T)(d, w)), np.diag(D) @ (W + A @ B).T)
    s = coo(E, PLACES, (N, N))
    assert isinstance(s + s, COO) and isinstance(s - s, COO) and isinstance(-s, COO)
    close(dense(s - s), np.zeros((N, N)))
    z = zeros((N, N))
    assert z @ w is not w and isinstance(z @ w, Zeros) and isinstance(structured(dnp.sin)(z), Zeros)
    assert isinstance(w + z, LoRA) and isinstance(z + w, LoRA) and isinstance(z - w, LoRA)
    close(dense(z - w), -(W + A @ B))
    assert isinstance(z - z, Zeros) and isinstance(z * W, Zeros)


def test_operators_with_arrays_on_either_side():
    w, plain = lora(W, A, B), W + A @ B
    x = dnp.asarray(X)
    for found, wanted in [
        (w @ X, plain @ X), (X @ w, X @ plain), (x @ w, X @ plain), (w @ x, plain @ X),
        (dense(W - w), W - plain), (dense(w * 2), plain * 2), (dense(np.float32(2) * w), plain * 2),
    ]:  # fmt: skip
        close(found, wanted)
    traced = jit(lambda w, x: (x @ w, dnp.asarray(W) - w, -w, w / 2.0))(w, x)
    for found, wanted in zip(traced, (X @ plain, W - plain, -plain, plain / 2)):
        close(dense(found), wanted)


def test_containers_and_keywords():
    net = {"layers": [lora(W, A, B), diagonal(D)], "bias": X}

    def f(net, *, x):
        for w in net["layers"]:
            x = dnp.tanh(w @ x + net["bias"])
        return {"out": x, "first": net["layers"][0]}

    found = structured(f)(net, x=X)
    wanted = np.tanh(D * np.tanh((W + A @ B) @ X + X) + X)
    close(found["out"], wanted)
    assert isinstance(found["first"], LoRA)
    slope = grad(lambda net: structured(f)(net, x=X)["out"].sum())(net)
    assert slope["layers"][0].W is None and slope["bias"].shape == (N,)


def test_it_is_one_function_inside_another():
    """A structured array that is made in a function of arrays, and used in one inside."""
    f = structured(lambda d, x: structured(lambda e: diagonal(e) @ x)(d @ x))
    close(f(diagonal(D), X), (D * X) * X)


def test_branches_and_loops_that_are_mapped():
    """Under vmap of the predicate, values of high types are chosen part by part."""
    w, flags = lora(W, A, B), np.array([True, False, True])
    choose = lambda p, w: lax.cond(p, lambda w: w, lambda w: w * 2.0, w)  # noqa: E731
    chosen = vmap(choose, in_axes=(0, None))(flags, w)
    assert isinstance(chosen, LoRA)
    scale = np.where(flags, 1, 2).astype(f32)
    close(dense(chosen), scale[:, None, None] * (W + A @ B))

    def loss(w):
        return dnp.sum(vmap(lambda p: dnp.sin(choose(p, w) @ X))(flags))

    plain = lambda a: dnp.sum(dnp.sin(scale[:, None] * ((W + a @ B) @ X)))  # noqa: E731
    close(grad(loss)(w).A, grad(plain)(A))


def test_checkpoints_and_boxes():
    policy = dovetail.checkpoint_policies.dots_saveable
    kept = dovetail.checkpoint(lambda w: dnp.tanh(w @ X), policy=policy)
    loss = lambda w: dnp.sum(kept(w))  # noqa: E731
    close(grad(loss)(lora(W, A, B)).B, grad(lambda b: loss(W + A @ b))(B))
    box = dovetail.hijax.new_box()
    jit(lambda box, w: box.set(w * 2.0))(box, lora(W, A, B))
    close(dense(box.get()), 2 * (W + A @ B))
