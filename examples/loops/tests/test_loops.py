"""Loops of a third party, under every transformation, compared to plain Python loops."""

from __future__ import annotations

import numpy as np
import pytest
from acme_loops import in_turns, tree_reduce
from acme_loops.tree import tree_p
from acme_loops.turns import turns_p

import dovetail
from dovetail import lax, numpy as dnp
from dovetail_core import registry

f32 = np.float32
C, XS = f32(0.7), np.linspace(0.3, 1.2, 5).astype(f32)


def tree(c, xs):
    return tree_reduce(lambda a, b: dnp.sin(a) * b + c * a, xs)


def plain_tree(c, xs):
    xs = list(xs)
    while len(xs) > 1:
        pairs = zip(xs[::2], xs[1::2])
        xs = [dnp.sin(a) * b + c * a for a, b in pairs] + xs[len(xs) // 2 * 2 :]
    return xs[0]


def turns(c, xs):
    k, (ys, zs) = in_turns(
        lambda k, x: (dnp.sin(k) * x + c, k), lambda k, _: (k * c, k + x0), c, (xs, None)
    )
    return k + dnp.sum(ys * zs)


x0 = f32(1.0)


def plain_turns(c, xs):
    k, total = c, 0.0
    for x in xs:
        y, k = k, dnp.sin(k) * x + c
        total, k = total + y * (k + x0), k * c
    return k + total


LOOPS = {"tree": (tree, plain_tree), "turns": (turns, plain_turns)}


def same(found, wanted, rtol=2e-5):
    found, wanted = (dovetail.tree_util.tree_leaves(x) for x in (found, wanted))
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=rtol, atol=1e-5)


@pytest.fixture(params=LOOPS)
def loops(request):
    return LOOPS[request.param]


def test_no_transformation_has_a_rule_for_them():
    same(dovetail.grad(tree)(C, XS), dovetail.grad(plain_tree)(C, XS))
    for name in ("ad.jvp", "ad.partial_eval", "ad.transpose", "batching.batch", "dce",
                 "refs.discharge", "remat.cost", "backends.stablehlo"):  # fmt: skip
        table = registry().table(name)
        table.fill()
        for primitive in (tree_p, turns_p):
            origin = table.origins.get(primitive)
            assert origin is None or origin.kind == "derived"


def test_values_and_jit(loops):
    f, plain = loops
    same(f(C, XS), plain(C, XS))
    same(dovetail.jit(f)(C, XS), plain(C, XS))


def test_forward_and_reverse_mode(loops):
    f, plain = loops
    tangents = f32(0.5), np.cos(XS)
    same(dovetail.jvp(f, (C, XS), tangents), dovetail.jvp(plain, (C, XS), tangents))
    wanted = dovetail.grad(plain, (0, 1))(C, XS)
    same(dovetail.grad(f, (0, 1))(C, XS), wanted)
    same(dovetail.jit(dovetail.grad(f, (0, 1)))(C, XS), wanted)


def test_the_second_order(loops):
    f, plain = loops
    second = [dovetail.hessian(g, (0, 1))(C, XS) for g in (f, plain)]
    same(*second, rtol=2e-4)
    again = [dovetail.jacrev(dovetail.grad(g, 1), (0, 1))(C, XS) for g in (f, plain)]
    same(*again, rtol=2e-4)


def test_linear_transposition(loops):
    f, _ = loops
    out, linear = dovetail.linearize(lambda xs: f(C, xs), XS)
    (ct,) = dovetail.linear_transpose(linear, XS)(dnp.ones_like(out))
    same(ct, dovetail.grad(f, 1)(C, XS))


def test_vmap(loops):
    f, plain = loops
    cs, many = np.array([0.7, -0.4], f32), np.stack([XS, XS[::-1] * 2])
    same(dovetail.vmap(f)(cs, many), np.stack([plain(c, x) for c, x in zip(cs, many)]))
    gradients = dovetail.vmap(dovetail.grad(f, (0, 1)), (0, None))(cs, XS)
    wanted = [dovetail.grad(plain, (0, 1))(c, XS) for c in cs]
    same(gradients, [np.stack(x) for x in zip(*wanted)])


@pytest.mark.parametrize("policy", ["nothing_saveable", "everything_saveable", "names"])
def test_checkpoint(loops, policy):
    policies = dovetail.checkpoint_policies
    kept = policies.save_only_these_names("sin") if policy == "names" else getattr(policies, policy)

    def named(c, xs):
        if loops[0] is tree:
            f = lambda a, b: dovetail.checkpoint_name(dnp.sin(a), "sin") * b + c * a  # noqa: E731
            return tree_reduce(f, xs)
        first = lambda k, x: (dovetail.checkpoint_name(dnp.sin(k), "sin") * x + c, k)  # noqa: E731
        k, (ys, zs) = in_turns(first, lambda k, _: (k * c, k + x0), c, (xs, None))
        return k + dnp.sum(ys * zs)

    f = dovetail.checkpoint(named, policy=kept)
    wanted = dovetail.grad(loops[1], (0, 1))(C, XS)
    same(dovetail.grad(f, (0, 1))(C, XS), wanted)
    same(dovetail.jit(dovetail.grad(f, (0, 1)))(C, XS), wanted)


def test_what_a_policy_keeps_inside_of_a_loop_is_stacked():
    f = lambda a, b: dovetail.checkpoint_name(dnp.sin(a), "sin") * b  # noqa: E731
    policy = dovetail.checkpoint_policies.save_only_these_names("sin")
    g = dovetail.checkpoint(lambda xs: tree_reduce(f, xs), policy=policy)
    found = dovetail.ad_checkpoint.saved_residuals(g, XS)
    assert [(r.kind, r.name, r.aval.shape, r.loop) for r in found if r.kind == "name"] == [
        ("name", "sin", (4,), ("acme.tree",))
    ]


def test_dead_code(loops):
    f, _ = loops
    program = dovetail.make_jaxpr(dovetail.jit(lambda c, xs: (f(c, xs), c)[1]))(C, XS)
    assert "acme" not in str(reduced(program, [True]))


def reduced(program, used):
    from dovetail_core import dce_closed

    return dce_closed(program, used)[0]


def test_a_loop_loses_what_is_not_used():
    def f(c, xs):
        both = lambda a, b: (a[0] * b[0], a[1] + dnp.exp(b[1]))  # noqa: E731
        total, _ = tree_reduce(both, (xs, xs * c))
        (k, _), _ = in_turns(
            lambda k, x: ((k[0] * x, k[1] + dnp.cos(x)), dnp.log(x)),
            lambda k, _: ((k[0] + 1.0, k[1]), None), (c, c), (xs, None),
        )  # fmt: skip
        return total + k

    text = str(reduced(dovetail.make_jaxpr(f)(C, XS), [True]))
    assert "acme.tree" in text and "acme.turns" in text
    assert not any(name in text for name in ("exp", "cos", "log"))


def test_references_that_are_closed_over():
    """Read by the tree, read and written by turns; also those made under a transformation."""

    def f(c, xs):
        factor, seen = dovetail.new_ref(c), dovetail.new_ref(dnp.zeros(2, f32))

        def first(k, x):
            seen[0] += k * x
            return k * factor[...], None

        def second(k, _):
            seen[1] = seen[1] + seen[0] * k
            return k + c, None

        k, _ = in_turns(first, second, c, (xs, None))
        total = tree_reduce(lambda a, b: dnp.sin(a) * b + factor[...] * a, xs)
        return k + total + dnp.sum(seen[...] * c)

    def plain(c, xs):
        k, a, b = c, f32(0), f32(0)
        for x in xs:
            a, k = a + k * x, k * c
            b, k = b + a * k, k + c
        return k + plain_tree(c, xs) + (a + b) * c

    wanted = dovetail.grad(plain, (0, 1))(C, XS)
    same(f(C, XS), plain(C, XS))
    same(dovetail.jit(f)(C, XS), plain(C, XS))
    same(dovetail.grad(f, (0, 1))(C, XS), wanted)
    same(dovetail.jit(dovetail.grad(f, (0, 1)))(C, XS), wanted)
    cs = np.array([0.7, 0.2], f32)
    same(dovetail.vmap(f, (0, None))(cs, XS), np.stack([plain(c, XS) for c in cs]))


def test_writes_of_a_tree_are_refused():
    def f(xs):
        seen = dovetail.new_ref(f32(0))

        def add(a, b):
            seen[...] = a
            return a + b

        return tree_reduce(add, xs) + seen[...]

    with pytest.raises(TypeError, match=r"sub-program of tree_reduce writes to .* in any order"):
        dovetail.jit(f)(XS)


def test_in_a_scan_of_a_cond(loops):
    def of(g):
        def f(c, xs):
            branch = lambda k: g(k * c, xs)  # noqa: E731
            step = lambda k, x: (lax.cond(x > 0.5, branch, lambda k: k + x, k), k)  # noqa: E731
            k, ys = lax.scan(step, c, xs)
            return k + dnp.sum(ys)

        return f

    f, plain = map(of, loops)
    xs = XS * f32(0.6)
    same(f(C, xs), plain(C, xs))
    same(dovetail.grad(f, (0, 1))(C, xs), dovetail.grad(plain, (0, 1))(C, xs), rtol=2e-4)
    cs = np.array([0.7, 0.2], f32)
    same(dovetail.vmap(f, (0, None))(cs, xs), np.stack([plain(c, xs) for c in cs]))


@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_lengths_of_trees(length):
    xs = np.linspace(0.5, 1.5, length).astype(f32)
    same(tree(C, xs), plain_tree(C, xs))
    same(dovetail.grad(tree, (0, 1))(C, xs), dovetail.grad(plain_tree, (0, 1))(C, xs))


def test_errors():
    with pytest.raises(ValueError, match=r"tree_reduce at .*test_loops\.py.*: xs has no elements"):
        tree_reduce(lambda a, b: a, XS[:0])
    with pytest.raises(TypeError, match=r"f returns \['i32\[\]'\], its operands are \['f32\[\]'\]"):
        tree_reduce(lambda a, b: np.int32(1), XS)
    with pytest.raises(ValueError, match=r"in_turns at .*: lengths \[3, 5\], one is needed"):
        in_turns(lambda k, x: (k, x), lambda k, x: (k, x), C, (XS, XS[:3]))
    with pytest.raises(TypeError, match=r"in_turns at .* returns \['i32\[\]'\], it is given"):
        in_turns(lambda k, x: (np.int32(1), x), lambda k, x: (k, x), C, (XS, None))
