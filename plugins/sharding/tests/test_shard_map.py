"""``shard_map``: functions of the parts that devices hold."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import NamedSharding, P, lax, set_mesh, shard_map, smap
from dovetail.experimental.shard_map import shard_map as older
from dovetail.sharding import AbstractMesh, Mesh, get_abstract_mesh

WHOLE = np.arange(32, dtype=np.float32).reshape(8, 4)
HALVES = WHOLE.reshape(8, 2, 2).sum(2).T.ravel()
RING = [(i, (i + 1) % 4) for i in range(4)]

# function of parts, specs of arguments, spec of the result, the result for WHOLE
CASES = {
    "elementwise": (lambda a: a * 2, P("x", "y"), P("x", "y"), WHOLE * 2),
    "one axis": (lambda a: a * 2, P("x"), P("x"), WHOLE * 2),
    "two axes on a dimension": (lambda a: a * 2, P(("y", "x")), P(("y", "x")), WHOLE * 2),
    "second dimension": (lambda a: a.sum(1), P(None, "y"), P("y"), HALVES),
    "whole": (lambda a: a + 1, P(), P(), WHOLE + 1),
    "copies": (lambda a: a, P(), P("x"), np.tile(WHOLE, (4, 1))),
    "sum": (lambda a: lax.psum(a.sum(), ("x", "y")), P("x", "y"), P(), WHOLE.sum()),
    "sum along one": (lambda a: lax.psum(a, "x"), P("x"), P(), WHOLE.reshape(4, 2, 4).sum(0)),
    "mean": (lambda a: lax.pmean(a, "y"), P(None, "y"), P(), (WHOLE[:, :2] + WHOLE[:, 2:]) / 2),
    "largest": (lambda a: lax.pmax(a.max(), ("x", "y")), P("x", "y"), P(), WHOLE.max()),
    "gathered": (lambda a: lax.all_gather(a, "x", tiled=True, to="invarying"), P("x"), P(), WHOLE),
    "ring": (lambda a: lax.ppermute(a, "x", RING), P("x"), P("x"), np.roll(WHOLE, 2, 0)),
    "index": (lambda a: a[:1, 0] * 0 + lax.axis_index("x"), P("x"), P("x"), np.arange(4)),
    "exchanged": (lambda a: lax.all_to_all(a, "y", 1, 0, tiled=True), P("y"), P(None, "y"), WHOLE),
    "scattered": (lambda a: lax.psum_scatter(a, "y", tiled=True), P(), P("y"), WHOLE * 2),
    "loop": (
        lambda a: lax.scan(lambda c, r: (c + lax.psum(r, "y"), None), dnp.zeros(2), a)[0],
        P("x", "y"), P("x"), (WHOLE[:, :2] + WHOLE[:, 2:]).reshape(4, 2, 2).sum(1).ravel(),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values(mesh, name):
    f, ins, outs, wanted = CASES[name]
    g = shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs)
    for out in (
        g(WHOLE),
        dt.jit(g)(WHOLE),
        dt.jit(g)(dt.device_put(WHOLE, NamedSharding(mesh, P("y")))),
    ):
        np.testing.assert_allclose(out, wanted)
        assert out.sharding.is_equivalent_to(NamedSharding(mesh, outs), out.ndim)


def test_evaluated_results_have_the_spec_that_was_given(mesh):
    for spec in (P(None), P(), P("x", None), P("x"), P(None, "y")):
        f = shard_map(lambda a: a * 2, mesh=mesh, in_specs=spec, out_specs=spec)
        out = f(WHOLE)
        assert out.sharding.spec == spec and out.sharding.mesh == mesh
        np.testing.assert_array_equal(out, WHOLE * 2)


def test_derivatives(mesh):
    """What is equal on all devices has one cotangent, the sum of theirs."""

    def loss(w, a):
        f = shard_map(
            lambda w, a: lax.pmean(dnp.tanh(a @ w).sum(), ("x", "y")),
            mesh=mesh, in_specs=(P("y"), P("x", "y")), out_specs=P(),
        )  # fmt: skip
        return f(w, a)

    def whole(w, a):
        parts = dnp.stack([a[:, :2] @ w[:2], a[:, 2:] @ w[2:]])
        return dnp.tanh(parts).sum() / 8

    w = np.linspace(-0.1, 0.1, 20, dtype=np.float32).reshape(4, 5)
    for transform in (lambda f: f, dt.jit):
        result = transform(dt.grad(loss, (0, 1)))(w, WHOLE)
        for a, b in zip(result, dt.grad(whole, (0, 1))(w, WHOLE)):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        dt.hessian(lambda v: loss(v, WHOLE))(w),
        dt.hessian(lambda v: whole(v, WHOLE))(w),
        rtol=1e-4,
        atol=1e-4,
    )


def test_mapped(mesh):
    f = shard_map(lambda a: lax.psum(a, "x"), mesh=mesh, in_specs=P("x"), out_specs=P())
    for g in (dt.vmap(f, 1), dt.jit(dt.vmap(f, 1))):
        np.testing.assert_array_equal(g(np.ones((8, 3))), np.full((3, 2), 4))


def test_some_axes(mesh):
    f = shard_map(
        lambda a: lax.psum(a, "x"), mesh=mesh, in_specs=P("x"), out_specs=P(), axis_names={"x"}
    )
    x = dt.device_put(WHOLE, NamedSharding(mesh, P(None, "y")))
    for g in (f, dt.jit(f)):
        np.testing.assert_array_equal(g(x), WHOLE.reshape(4, 2, 4).sum(0))

    def nested(a):
        inner = shard_map(
            lambda b: lax.psum(b, "y"), in_specs=P(None, "y"), out_specs=P(), axis_names={"y"}
        )
        return inner(a) * lax.axis_size("x")

    g = shard_map(nested, mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
    np.testing.assert_array_equal(dt.jit(g)(WHOLE), 4 * (WHOLE[:, :2] + WHOLE[:, 2:]))


def test_what_the_function_sees(mesh):
    seen = []

    def f(a, tree):
        seen.append((a.shape, tree["b"].shape, get_abstract_mesh().manual_axes))
        return a, {"c": tree["b"].sum()[None]}

    specs = {"in_specs": (P("x", "y"), {"b": P("x")}), "out_specs": (P("x", "y"), {"c": P("x")})}
    a, rest = shard_map(f, mesh=mesh, **specs)(WHOLE, {"b": np.arange(8.0)})
    assert seen == [((2, 2), (2,), ("x", "y"))] and get_abstract_mesh().empty
    np.testing.assert_array_equal(a, WHOLE)
    np.testing.assert_array_equal(rest["c"], [1, 5, 9, 13])
    assert shard_map(lambda a, b: a, mesh=mesh, in_specs=(P("x"), None), out_specs=P("x"))(
        WHOLE, None
    ).shape == (8, 4)


def test_spellings(mesh, explicit):
    with set_mesh(mesh):
        np.testing.assert_array_equal(
            shard_map(lambda a: a, in_specs=P("x"), out_specs=P("x"))(WHOLE), WHOLE
        )

        @shard_map(in_specs=P("x"), out_specs=P("x"))
        def doubled(a):
            return a * 2

        np.testing.assert_array_equal(doubled(WHOLE), 2 * WHOLE)
        assert doubled.__name__ == "doubled"
        f = smap(lambda a: a.sum(0), in_axes=1, out_axes=0, axis_name="y")
        np.testing.assert_array_equal(f(WHOLE), WHOLE.sum(0))
        mixed = smap(lambda a, b: (a * b, b), in_axes=(0, None), out_axes=(0, None), axis_name="x")
        np.testing.assert_array_equal(mixed(WHOLE, 2.0)[0], 2 * WHOLE)
    g = older(lambda a: a.sum(), mesh, P("x"), P(), check_rep=False)
    assert float(g(WHOLE)) == WHOLE[:2].sum()  # that of the first device
    x = dt.device_put(WHOLE, NamedSharding(explicit, P("x")))
    inferred = shard_map(lambda a: a * a.shape[0], mesh=explicit, out_specs=P("x"))
    np.testing.assert_array_equal(inferred(x), 2 * WHOLE)
    abstract = AbstractMesh((4, 2), ("x", "y"))
    h = shard_map(lambda a: lax.psum(a, "x"), mesh=abstract, in_specs=P("x"), out_specs=P())
    x = dt.device_put(WHOLE, NamedSharding(mesh, P("x")))
    np.testing.assert_array_equal(h(x), WHOLE.reshape(4, 2, 4).sum(0))
    with pytest.raises(ValueError, match=r"of 8 devices, in a program on 1\. Give arguments"):
        dt.jit(h)(WHOLE)
    with pytest.raises(ValueError, match=r"which has no devices, no argument is an array with a"):
        h(WHOLE)


def test_results_are_on_the_mesh_that_is_mapped_over(mesh, devices):
    """Where arguments are on another one of the same devices, too."""
    line = Mesh(np.array(devices), ("i",))
    f = shard_map(lambda a: 2 * a, mesh=line, in_specs=P("i"), out_specs=P("i"))
    for spec in (P(), P("x"), P(("x", "y"))):
        out = f(dt.device_put(WHOLE, NamedSharding(mesh, spec)))
        assert out.sharding == NamedSharding(line, P("i"))
        np.testing.assert_array_equal(out, 2 * WHOLE)


def test_each_device_computes_its_part(mesh):
    f = shard_map(
        lambda a, w: lax.psum(dnp.tanh(a @ w).sum(), "x"),
        mesh=mesh, in_specs=(P("x"), P()), out_specs=P(),
    )  # fmt: skip
    text = dt.jit(f).lower(np.ones((64, 32), np.float32), np.ones((32, 16), np.float32)).compile()
    result = re.findall(r"= (\S+) (all-reduce|all-gather|dot)\(", text.as_text())
    assert result == [("f32[16,16]{1,0}", "dot"), ("f32[]", "all-reduce")]


def test_random_keys(mesh):
    draw = dt.vmap(dt.random.normal)
    keys = dt.random.split(dt.random.key(0), 8)
    f = shard_map(draw, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    np.testing.assert_allclose(dt.jit(f)(keys), draw(keys), rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"out_specs": P()}, ValueError, r"result may differ along the axis 'x' of the mesh, and"),
        (
            {"in_specs": P("x", None, "y")},
            ValueError,
            r"args\[0\] has shape \(8, 4\), and its spec",
        ),
        ({"out_specs": P("x", None, None)}, ValueError, r"result has shape \(2, 4\), and its spec"),
        ({"in_specs": (P("x"), P())}, ValueError, "in_specs is no tree prefix"),
        ({"out_specs": (P("x"), P())}, ValueError, "out_specs is no tree prefix"),
        (
            {"in_specs": P("z")},
            ValueError,
            r"in_specs names the axis 'z' in P\('z',\), and the fun",
        ),
        ({"in_specs": P(P.UNCONSTRAINED)}, ValueError, "no dimension is left to the compiler"),
        ({"in_specs": 3}, TypeError, "in_specs has 3 of type int: give PartitionSpecs"),
        ({"axis_names": {"z"}}, ValueError, "axis_names has 'z', and the mesh has the axes"),
        ({"axis_names": {"y"}}, ValueError, "in_specs names the axis 'x'"),
        ({"axis_names": "x"}, TypeError, "axis_names must be a set, got 'x' of type str"),
        ({"mesh": None}, ValueError, "no mesh is given and none is set"),
        ({"mesh": "x"}, TypeError, "mesh must be a Mesh, got 'x' of type str"),
    ],
)
def test_errors(mesh, options, error, text):
    given = {"mesh": mesh, "in_specs": P("x"), "out_specs": P("x"), **options}
    with pytest.raises(error, match=text):
        shard_map(lambda a: a, **given)(WHOLE)


def test_more_errors(mesh):
    f = shard_map(lambda a: a, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    with pytest.raises(ValueError, match=r"divides dimension 0, of size 7, into 4 parts"):
        f(WHOLE[:7])
    with pytest.raises(TypeError, match=r"not all axes of Mesh.* are of type Explicit"):
        shard_map(lambda a: a, mesh=mesh, out_specs=P())(WHOLE)
    with pytest.raises(ValueError, match="within a shard_map over the same"):
        shard_map(f, mesh=mesh, in_specs=P(), out_specs=P())(WHOLE)
    with pytest.raises(TypeError, match="shard_map takes a function, got 3"):
        shard_map(3, mesh=mesh, in_specs=P(), out_specs=P())
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        f(a=WHOLE)


def test_one_device_has_all_parts_of_a_mesh_of_its_own(devices):
    """Also where the function is called inside of the mesh and outside."""
    from dovetail import random

    mesh = Mesh(np.array(devices[:1]), ("i",))
    keys = dt.device_put(random.split(random.PRNGKey(0), 1), NamedSharding(mesh, P("i")))

    def noise(x, key):
        return x + random.normal(key[0], (1, 4)) + lax.axis_index("i")

    def f(x, keys):
        inside = shard_map(noise, mesh=mesh, in_specs=(P(), P("i")), out_specs=P("i"))(x, keys)
        return inside - random.normal(keys[0], (1, 4))

    np.testing.assert_allclose(dt.jit(f)(WHOLE[:1], keys), WHOLE[:1], atol=1e-6)


def test_an_axis_of_vmap_along_an_axis_of_the_mesh(mesh):
    """``spmd_axis_name`` divides what is mapped; values and derivatives are the same."""
    stack = np.stack([(k + 1) * WHOLE for k in range(4)]) / 16
    weight = np.arange(4, dtype=np.float32)

    def f(a, w):
        return lax.psum(dnp.sin(a) * w, "x"), a * 2, w

    over = shard_map(f, mesh=mesh, in_specs=(P("x"), P()), out_specs=(P(), P("x"), P()))
    plain = dt.vmap(over, (0, None))(stack, weight)
    for wrap in (lambda g: g, dt.jit):
        mapped = wrap(dt.vmap(over, (0, None), spmd_axis_name="y"))
        result = mapped(stack, weight)
        for a, b in zip(result, plain, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
        assert result[0].sharding.spec == P("y") and result[1].sharding.spec == P("y", "x")
    text = str(dt.make_jaxpr(dt.vmap(over, (1, None), spmd_axis_name="y"))(
        np.moveaxis(stack, 0, 1), weight))  # fmt: skip
    assert "spec=P\"('y', 'x')\"" in text and text.count("to_parts") == 1

    def total(a, w, axes):
        outs = dt.vmap(over, (0, None), spmd_axis_name=axes)(a, w)
        return (outs[0] ** 2).sum() + outs[1].sum()

    for a, b in zip(*[dt.grad(total, (0, 1))(stack, weight, axes) for axes in (None, "y")]):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    odd = dt.vmap(over, (0, None), spmd_axis_name="y")(stack[:3], weight)  # it does not divide
    np.testing.assert_allclose(odd[1], plain[1][:3])


def test_structures_of_results(mesh):
    pair = {"mesh": mesh, "in_specs": P("x"), "out_specs": [P("x"), P("x")]}
    with pytest.raises(ValueError, match="out_specs is no tree prefix"):
        dt.shard_map(lambda x: (x, x), **pair)(np.arange(8.0))
    assert len(dt.shard_map(lambda x: [x, x], **pair)(np.arange(8.0))) == 2
    pmapped = dt.pmap(lambda x: x, out_axes=3, devices=list(mesh.devices.flat))
    with pytest.raises(ValueError, match="out_axes is 3 for a result"):
        pmapped(np.arange(8.0))
