"""``with_sharding_constraint``, and ``reshard`` in functions that are traced."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import NamedSharding, P, lax, set_mesh
from dovetail.experimental.layout import Format, Layout
from dovetail.sharding import SingleDeviceSharding

WHOLE = np.arange(32, dtype=np.float32).reshape(8, 4)


def _at(*partitions):
    return lambda mesh: NamedSharding(mesh, P(*partitions))


def test_eager(mesh):
    s = _at("x", "y")(mesh)
    x = lax.with_sharding_constraint(WHOLE, s)
    assert x.sharding is s
    np.testing.assert_array_equal(x, WHOLE)
    y = lax.with_sharding_constraint(x, _at("y")(mesh))
    assert y.sharding == _at("y")(mesh)
    z = lax.with_sharding_constraint(x, _at(P.UNCONSTRAINED)(mesh))
    assert z.sharding.spec == P("x")
    tree = lax.with_sharding_constraint(
        {"a": (WHOLE, WHOLE), "b": WHOLE}, {"a": s, "b": y.sharding}
    )
    assert [t.sharding for t in (*tree["a"], tree["b"])] == [s, s, y.sharding]
    with set_mesh(mesh):
        assert lax.with_sharding_constraint(WHOLE, P("y")).sharding == y.sharding
    formatted = lax.with_sharding_constraint(WHOLE, Format(Layout((0, 1)), s))
    assert formatted.sharding is s


def test_traced(mesh):
    s, t = _at("x", "y")(mesh), _at(None, "y")(mesh)

    def f(a):
        return lax.with_sharding_constraint(a * 2, t)

    out = dt.jit(f)(dt.device_put(WHOLE, s))
    assert out.sharding == t
    np.testing.assert_array_equal(out, WHOLE * 2)
    assert dt.jit(f)(WHOLE).sharding == t  # the constraint says on which devices it runs
    lowered = dt.jit(f).lower(WHOLE).as_text()
    assert 'sdy.sharding_constraint %1 <mesh<["x"=4, "y"=2]>, [{}, {"y"}]>' in lowered
    partly = dt.jit(lambda a: lax.with_sharding_constraint(a, _at(P.UNCONSTRAINED, "y")(mesh)))
    assert "[{?}, {" in partly.lower(WHOLE).as_text()
    with set_mesh(mesh):
        named = dt.jit(lambda a: lax.with_sharding_constraint(a, P(("y", "x"))))(WHOLE)
    assert named.sharding.spec == P(("y", "x"))
    np.testing.assert_array_equal(named, WHOLE)


def test_on_one_device_it_is_nothing():
    s = SingleDeviceSharding(dt.devices()[0])
    f = dt.jit(lambda a: lax.with_sharding_constraint(a, s))
    assert "sdy" not in f.lower(WHOLE).as_text()
    assert f(WHOLE).sharding == s


def test_transformed(mesh):
    s = _at("x")(mesh)
    x = dt.device_put(WHOLE, _at("y")(mesh))

    def f(a):
        return lax.with_sharding_constraint(a * a, s)

    for g in (dt.grad(lambda a: f(a).sum()), dt.jit(dt.grad(lambda a: f(a).sum()))):
        np.testing.assert_array_equal(g(x), 2 * WHOLE)
    program = dt.make_jaxpr(dt.grad(lambda a: f(a).sum()))(WHOLE)
    assert str(program).count("sharding_constraint") == 2  # of the value and of its cotangent
    value, tangent = dt.jvp(f, (x,), (x,))
    np.testing.assert_array_equal(tangent, 2 * WHOLE**2)
    assert value.sharding == tangent.sharding == s
    for axis in (0, 1):
        mapped = dt.vmap(lambda a: lax.with_sharding_constraint(a, _at("x")(mesh)), axis, axis)
        (eqn,) = dt.make_jaxpr(mapped)(np.ones((8, 8))).eqns
        wanted = P(P.UNCONSTRAINED, "x") if axis == 0 else P("x", P.UNCONSTRAINED)
        assert eqn.params["sharding"].spec == wanted
        np.testing.assert_array_equal(mapped(np.eye(8)), np.eye(8))


def test_within_shard_map_mapped_axes_cannot_be_named(mesh):
    def along(axis):
        def f(a):
            return lax.with_sharding_constraint(2 * a, _at(axis)(mesh))

        return dt.jit(
            dt.shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
        )

    np.testing.assert_array_equal(along("y")(WHOLE), 2 * WHOLE)
    with pytest.raises(ValueError, match=r"names 'x', over which the function around is mapped"):
        along("x")(WHOLE)


def test_in_control_flow(mesh):
    s = _at("x")(mesh)

    @dt.jit
    def f(a):
        def body(c, row):
            c = lax.with_sharding_constraint(c + row, s)
            return c, c.sum()

        c, sums = lax.scan(body, dnp.zeros(8), a)
        return lax.cond(sums[-1] > 0, lambda v: lax.with_sharding_constraint(v, s), lambda v: -v, c)

    out = f(WHOLE.T.copy())
    np.testing.assert_array_equal(out, WHOLE.sum(1))
    assert out.sharding == s


def test_padding(mesh):
    """Traced, the shards need not divide a dimension."""
    out = dt.jit(lambda a: lax.with_sharding_constraint(a * 2, _at("x")(mesh)).sum())(
        np.ones((7, 3))
    )
    assert float(out) == 42


def test_reshard_traced(explicit):
    s = _at("x")(explicit)
    out = dt.jit(lambda a: dt.reshard(a + 1, s))(WHOLE)
    assert out.sharding.spec == P("x", None)
    np.testing.assert_array_equal(out, WHOLE + 1)
    with pytest.raises(ValueError, match="is for arrays of at least 3 dimensions"):
        dt.jit(lambda a: dt.reshard(a, _at(None, None, "x")(explicit)))(WHOLE)


def test_bound_to_other_devices(mesh, devices):
    x = dt.device_put(WHOLE, _at("x")(mesh))
    other = NamedSharding(dt.sharding.Mesh(np.array(devices[4:]), ("a",)), P("a"))
    with pytest.raises(
        ValueError, match=r"bound to the devices \[0, 1, .*\], and .*\[4, 5, 6, 7\]"
    ):
        lax.with_sharding_constraint(x, other)
    np.testing.assert_array_equal(lax.with_sharding_constraint(WHOLE, other), WHOLE)


def test_errors(mesh, devices):
    f = lax.with_sharding_constraint
    with pytest.raises(ValueError, match=r"there is no sharding for a leaf of type f32\[8,4\]"):
        f(WHOLE, None)
    with pytest.raises(TypeError, match=r"takes shardings, got CpuDevice.* of type Device"):
        f(WHOLE, devices[0])
    with pytest.raises(TypeError, match="takes shardings, got 3 of type int"):
        f(WHOLE, 3)
    with pytest.raises(
        ValueError, match="shardings of with_sharding_constraint has a PartitionSpec"
    ):
        f(WHOLE, P("x"))
    with pytest.raises(ValueError, match="shardings must be a tree prefix of x"):
        f((WHOLE, WHOLE), (_at("x")(mesh),))
    for g in (f, lambda x, s: dt.jit(lambda a: f(a, s))(x)):
        with pytest.raises(ValueError, match=r"P\('x', 'y'\) is for arrays of at least 2 dim"):
            g(np.ones(8), _at("x", "y")(mesh))
    with pytest.raises(ValueError, match="has size 7, which 4 shards do not divide"):
        f(np.ones(7), _at("x")(mesh))
    with (
        set_mesh(mesh),
        pytest.raises(ValueError, match="names the axis 'z', and the mesh has the"),
    ):
        f(WHOLE, P("z"))
    with pytest.raises(
        AssertionError, match=r"of type f32\[8,4\], and .* says f32\[8@x,4\]\{U:y\}"
    ):
        from dovetail.sharding import AxisType, Mesh

        m = Mesh(mesh.devices, ("x", "y"), AxisType.Explicit)
        dt.jit(lambda a: f(a + 1, NamedSharding(m, P("x", unreduced={"y"}))))(WHOLE)


@pytest.mark.filterwarnings("ignore:.with mesh:DeprecationWarning")
def test_an_abstract_mesh_means_the_one_that_is_set(mesh):
    abstract = NamedSharding(mesh.abstract_mesh, P("x", "y"))
    wanted = _at("x", "y")(mesh)
    with pytest.raises(ValueError, match="has no devices"):
        lax.with_sharding_constraint(WHOLE, abstract)
    for around in (set_mesh(mesh), mesh):
        with around:
            assert lax.with_sharding_constraint(WHOLE, abstract).sharding == wanted
            compiled = dt.jit(lambda x: lax.with_sharding_constraint(x, abstract) + 1)
            assert compiled(WHOLE).sharding.is_equivalent_to(wanted, 2)
            mapped = dt.vmap(lambda x: lax.with_sharding_constraint(x, abstract))(WHOLE[None])
            assert mapped.sharding.is_equivalent_to(_at(None, "x", "y")(mesh), 3)
