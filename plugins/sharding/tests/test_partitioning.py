"""Functions that say themselves how they are divided."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import NamedSharding, P, lax
from dovetail.experimental.custom_partitioning import (
    BATCHING,
    ArrayMapping,
    CompoundFactor,
    SdyShardingRule,
    custom_partitioning,
)

A = np.arange(32, dtype=np.float32).reshape(8, 4)
B = np.cos(np.arange(24, dtype=np.float32)).reshape(4, 6)


@pytest.fixture
def product():
    """A matrix product, which notes the specs that it is asked about."""

    @custom_partitioning
    def mm(a, b):
        return a @ b

    asked = []

    def partition(mesh, args, result):
        a, b = args
        asked.append((a.shape, a.sharding.spec, b.sharding.spec, result.sharding.spec))
        k, rows = b.sharding.spec[0], a.sharding.spec[0]

        def local(a, b):
            return lax.psum(a @ b, k) if k else a @ b

        places = [NamedSharding(mesh, s) for s in (P(rows, None), P(rows, k), P(k, None))]
        return mesh, local, places[0], tuple(places[1:])

    rule = "i k, k j -> i j"
    assert mm.def_partition(partition, sharding_rule=rule, reduction_factors=("k",)) is partition
    mm.asked = asked
    return mm


def test_how_it_is_divided(mesh, product):
    a = dt.device_put(A, NamedSharding(mesh, P("x", "y")))
    b = dt.device_put(B, NamedSharding(mesh, P("y")))
    f = dt.jit(lambda a, b: product(a, b))
    out = f(a, b)
    np.testing.assert_allclose(out, A @ B, rtol=1e-5)
    assert product.asked == [((8, 4), P("x", "y"), P("y", None), P("x", None))]
    assert out.sharding.is_equivalent_to(NamedSharding(mesh, P("x")), 2)
    text = f.lower(a, b).compile().as_text()
    assert "all-reduce" in text and "all-gather" not in text
    text = f.lower(a, b).as_text()
    assert "([i, j], [j, k])->([i, k]) {i=8, j=4, k=6} reduction={j}, custom" in text
    np.testing.assert_allclose(product(a, b), A @ B, rtol=1e-5)


def test_on_one_device_and_within_shard_map(mesh, product):
    np.testing.assert_allclose(dt.jit(lambda a: product(a, B))(A), A @ B, rtol=1e-5)
    f = dt.shard_map(product, mesh=mesh, in_specs=(P("x"), P()), out_specs=P("x"))
    np.testing.assert_allclose(dt.jit(f)(A, B), A @ B, rtol=1e-5)
    assert product.asked == []


def test_transformations(mesh, product):
    stacks = np.stack([A, 2 * A, 3 * A, 4 * A])
    a = dt.device_put(stacks, NamedSharding(mesh, P("x", None, "y")))
    b = dt.device_put(B, NamedSharding(mesh, P("y")))
    f = dt.jit(dt.vmap(product, (0, None)))
    out = f(a, b)
    np.testing.assert_allclose(out, stacks @ B, rtol=1e-5)
    assert product.asked[0] == ((8, 4), P(None, "y"), P("y", None), P(None, None))
    assert out.sharding.is_equivalent_to(NamedSharding(mesh, P("x")), 3)
    assert "all-gather" not in f.lower(a, b).compile().as_text()
    twice = dt.jit(dt.vmap(dt.vmap(product, (0, None)), (None, 0)))(a, np.stack([B, 2 * B]))
    np.testing.assert_allclose(twice, np.stack([stacks @ B, stacks @ (2 * B)]), rtol=1e-5)
    slope = dt.grad(lambda a: product(a, b).sum())(A)
    np.testing.assert_allclose(slope, np.broadcast_to(B.sum(1), A.shape), rtol=1e-5)
    out = dt.jit(lambda a: lax.scan(lambda c, _: (product(c, B @ B.T), None), a, None, 2)[0])(
        dt.device_put(A, NamedSharding(mesh, P("x")))
    )
    np.testing.assert_allclose(out, A @ (B @ B.T) @ (B @ B.T), rtol=1e-4)


def test_trees_and_static_arguments(mesh):
    def scaled(tree, n, k=1.0):
        return {"a": tree["a"] * n, "b": (tree["b"].sum(-1) * k,)}

    f = custom_partitioning(scaled, static_argnums=(1, 2))
    seen = []

    def partition(n, k, mesh, args, result):
        seen.append((n, k))
        places = dt.tree.map(lambda x: NamedSharding(mesh, P(x.sharding.spec[0])), args)
        outs = {"a": places[0]["a"], "b": (places[0]["b"],)}
        return mesh, lambda tree: scaled(tree, n, k), outs, places

    f.def_partition(partition, sharding_rule=lambda n, k, mesh, ins, outs: "i j, i j -> i j, i")
    x = dt.device_put(A, NamedSharding(mesh, P("x")))
    out = dt.jit(lambda t: f(t, 3, k=2.0))({"a": x, "b": x})
    np.testing.assert_allclose(out["a"], 3 * A)
    np.testing.assert_allclose(out["b"][0], 2 * A.sum(-1))
    assert seen == [(3, 2.0)]


def _rule_in_text(mesh, f, rule, **options):
    g = custom_partitioning(f)
    g.def_partition(lambda *a: None, sharding_rule=rule, **options)
    x = dt.device_put(A, NamedSharding(mesh, P("x")))
    text = dt.jit(lambda x: g(x)).lower(x).as_text()
    return text.split("op_sharding_rule<")[1].split(">}")[0]


@pytest.mark.parametrize(
    "rule, wanted",
    [
        ("i j -> i j", "([i, j])->([i, j]) {i=8, j=4}, custom"),
        ("... -> ...", "([i, j])->([i, j]) {i=8, j=4}, custom"),
        ("...row->...row", "([i, j])->([i, j]) {i=8, j=4}, custom"),
        ("a b -> b a", "([i, j])->([j, i]) {i=4, j=4}, custom"),
        (SdyShardingRule(((BATCHING, "i"),), ((BATCHING, "i"),)),
         "([i, j])->([i, j]) {i=8, j=4}, custom"),
    ],
)  # fmt: skip
def test_rules(mesh, rule, wanted):
    assert _rule_in_text(mesh, dnp.sin, rule) == wanted


def test_rules_with_compound_factors_and_roles(mesh):
    text = _rule_in_text(
        mesh, lambda x: x.reshape(2, 4, 4), "(i k) j -> i k j", need_replication_factors=("j",)
    )
    assert text == "([ij, k])->([i, j, k]) {i=2, j=4, k=4} need_replication={k}, custom"
    text = _rule_in_text(mesh, lambda x: x[:, 0], "(i k) j -> (i k)", i=2, k=4)
    assert text == "([ij, k])->([ij]) {i=2, j=4, k=4}, custom"
    many = " ".join(f"f{n}" for n in range(20))
    rule = SdyShardingRule((tuple(many.split()),), (tuple(many.split()),))
    from dovetail_sharding.partitioning.rule import spelled

    assert "z, z_1, z_2" in spelled(rule, [(1,) * 20], [(1,) * 20])


def test_errors_of_rules(mesh):
    for make, text in (
        (lambda: ArrayMapping("a", 3), "ArrayMapping.* has 3 of type int: give names"),
        (lambda: ArrayMapping("1a"), "has the factor '1a': names begin with a letter"),
        (lambda: ArrayMapping("a", BATCHING), "an ellipsis, for batching dimensions, stands at"),
        (lambda: CompoundFactor("a"), r"CompoundFactor.* is of at least two factors, got \('a',\)"),
        (lambda: SdyShardingRule((("i",),), (("i",),), j=3), "the factor 'j', which is not used"),
        (
            lambda: SdyShardingRule((("i",),), (("i",),), i=3),
            "'i', which is a dimension of its own",
        ),
        (
            lambda: SdyShardingRule((("i",),), ((),), ("z",)),
            "reduction_factors has 'z', which is n",
        ),
        (lambda: SdyShardingRule((("i",),), ((),), ("i",), ("i",)), "'i', which is one of reducti"),
        (
            lambda: _rule_in_text(mesh, dnp.sin, "(i k) j -> (i k) j"),
            "'i' is in compound factors o",
        ),
        (
            lambda: _rule_in_text(mesh, dnp.sin, "(i k) j -> i k j"),
            "result 0 has 3 dimensions ther",
        ),
        (
            lambda: _rule_in_text(mesh, dnp.sin, "(i k) j -> (i k) j", i=3, k=3),
            "not the product of",
        ),
        (lambda: _rule_in_text(mesh, dnp.sin, "ij"), "'ij' .*is not of the form 'i j, j k -> i k'"),
        (lambda: _rule_in_text(mesh, dnp.sin, "(i j -> i"), "a parenthesis is not closed"),
        (lambda: _rule_in_text(mesh, dnp.sin, "(... i) -> i"), "'...' is out of place"),
        (lambda: _rule_in_text(mesh, dnp.sin, "i j, k -> i j"), "has 2 operands, and the function"),
    ):
        with pytest.raises(ValueError, match=text):
            make()
    with pytest.raises(TypeError, match=r"sharding_rule must be a string, an SdyShard"):
        custom_partitioning(dnp.sin).def_partition(print, sharding_rule=3)


def test_errors_of_functions(mesh):
    x = dt.device_put(A, NamedSharding(mesh, P("x")))
    with pytest.raises(AttributeError, match=r"custom_partitioning of sin.*Call sin.def_partition"):
        custom_partitioning(dnp.sin)(x)
    with pytest.raises(
        TypeError, match=r"custom_partitioning.* takes a function, got 3 of type int"
    ):
        custom_partitioning(3)
    for partition, text in (
        (lambda mesh, a, r: (mesh, dnp.sin, a[0].sharding), "must return a tuple of the mesh, a f"),
        (lambda mesh, a, r: (mesh, lambda v: v[:1], a[0].sharding, (a[0].sharding,)),
         "partition returned gives parts of types"),
        (lambda mesh, a, r: 1 / 0, "ZeroDivisionError: division by zero"),
    ):  # fmt: skip
        f = custom_partitioning(dnp.sin)
        f.def_partition(partition, sharding_rule="i j -> i j")
        with pytest.raises(Exception, match=text):
            dt.jit(lambda x, f=f: f(x))(x)
