"""``shard_map`` on arguments whose types tell how they are divided; values made beside such."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import NamedSharding, P, lax, numpy as dnp, shard_map
from dovetail.errors import ShardingTypeError
from dovetail.sharding import AxisType, Mesh, set_mesh

HOST = np.arange(32, dtype=np.float32).reshape(8, 4)


@pytest.fixture
def told(explicit) -> Any:
    return explicit


def put(mesh: Any, *axes: Any) -> Any:
    return dovetail.device_put(HOST, NamedSharding(mesh, P(*axes)))


def double(a: Any) -> Any:
    return a * 2


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("axes", [None, (), ("y",), (None, "x"), ("x", "y")])
def test_specs_must_be_those_of_types(told, traced, axes):
    f = shard_map(double, mesh=told, in_specs=P("x"), out_specs=P("x"))
    x = HOST if axes is None else put(told, *axes)
    with pytest.raises(ValueError, match=r"(?s)args\[0\] is of type .*in in_specs is P.*Reshard"):
        (dovetail.jit(f) if traced else f)(x)
    np.testing.assert_array_equal(f(put(told, "x")), HOST * 2)


@pytest.mark.parametrize(
    "axes, spec, result",
    [
        (("y",), P("x"), P(("x", "y"), None)),
        ((None, "x"), P("x"), P("x", None)),
        (("y",), P(None, "x"), P("y", "x")),
        (("x", "y"), P("x"), P("x", "y")),
    ],
)
def test_the_rest_of_the_mesh_divides_as_it_did(told, axes, spec, result):
    with set_mesh(told):
        f = shard_map(double, in_specs=spec, out_specs=spec, axis_names={"x"})
        y = dovetail.jit(f)(put(told, *axes))
        assert y.sharding.spec == result
        np.testing.assert_array_equal(y, HOST * 2)
        results = dovetail.jit(dovetail.grad(lambda a: (f(a) ** 2).sum()))(put(told, *axes))
        np.testing.assert_array_equal(results, HOST * 8)


def test_specs_of_arguments_along_some_axes(told):
    with set_mesh(told):
        f = shard_map(double, out_specs=P("x"), axis_names={"x"})
        assert dovetail.jit(f)(put(told, "x", "y")).sharding.spec == P("x", "y")


def test_meshes_whose_axes_are_of_type_auto_tell_nothing(told, mesh):
    f = shard_map(double, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    y = f(put(told, "x"))
    assert y.sharding == NamedSharding(mesh, P("x"))
    np.testing.assert_array_equal(y, HOST * 2)


def test_mapped_axes_that_types_divide(told):
    def total(a: Any) -> Any:
        return lax.psum(a * a, "x")

    with set_mesh(told):
        f = dovetail.vmap(shard_map(total, in_specs=P("x"), out_specs=P()))
        x = put(told, "y", "x")
        np.testing.assert_array_equal(f(x), (HOST**2).sum(1, keepdims=True))
        assert f(x).sharding.spec == P("y", None)
        np.testing.assert_array_equal(dovetail.grad(lambda a: f(a).sum())(x), HOST * 2)
        g = shard_map(lambda a: lax.psum(a, "y"), in_specs=P("x"), out_specs=P("x"))
        with pytest.raises(ShardingTypeError, match=r"(?s)uses the axis 'y' .* divide the mapped"):
            dovetail.vmap(g)(x)


def test_spmd_axes_that_the_function_uses(mesh):
    f = shard_map(double, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    with pytest.raises(ValueError, match=r"(?s)uses the axis 'x' .* spmd_axis_name is 'x'.*leave"):
        dovetail.vmap(f, spmd_axis_name="x")(HOST.T)


def test_values_made_beside_arrays_on_a_mesh_that_is_not_set(devices):
    grid = np.array(devices).reshape(4, 2)
    mesh = Mesh(grid, ("the_only_x", "the_only_y"), AxisType.Explicit)
    x = dovetail.device_put(HOST, NamedSharding(mesh, P("the_only_x")))
    ones = np.ones((8, 4), np.float32)
    for jacobian in (dovetail.jacfwd, dovetail.jacrev):
        result = jacobian(lambda a: a.sum(0))(x)
        np.testing.assert_array_equal(result, np.eye(4)[:, None] * ones)
    assert dovetail.hessian(lambda a: (a**3).sum())(x).shape == (8, 4, 8, 4)
    np.testing.assert_array_equal(dovetail.vmap(lambda a: dnp.zeros(3))(x), np.zeros((8, 3)))


def test_results_have_a_spec_of_all_dimensions(told):
    with set_mesh(told):
        assert dovetail.jit(lambda a: a + 1)(HOST).sharding.spec == P(None, None)


@pytest.mark.parametrize("kind", ["Auto", "Explicit"])
def test_rows_are_on_one_device(told, mesh, kind):
    x = put(told if kind == "Explicit" else mesh, "x")
    for _ in range(12):
        rows = list(x)
        np.testing.assert_array_equal(np.stack(rows), HOST)
    assert not rows[3].committed and len(rows[3].devices()) == 1
