"""Options of meshes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import NamedSharding, P, lax, shard_map, typeof
from dovetail.sharding import AxisType, Mesh
from dovetail_sharding.settings import (
    auto_pcast,
    disallow_mesh_context_manager,
    remove_size_one_mesh_axis_from_type,
)

HOST = np.arange(32, dtype=np.float32).reshape(8, 4)


def test_meshes_as_context_managers_can_be_refused(mesh):
    text = r"(?s)disallow_mesh_context_manager is on.*set_mesh"
    with disallow_mesh_context_manager(True):
        with pytest.raises(RuntimeError, match=text), mesh:
            pass
        with dovetail.set_mesh(mesh):
            pass


@pytest.mark.parametrize("constant", [1.0, np.ones(1, np.float32)])
def test_operands_that_vary_differently_can_be_refused(mesh, constant):
    def mapped(f: Any) -> Any:
        return shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P("x"))

    def cast(a: Any) -> Any:
        return a + lax.pcast(dovetail.numpy.float32(1), "x", to="varying")

    with auto_pcast(False):
        with pytest.raises(
            ValueError, match=r"(?s)operands of add vary .* at .*test_settings.*pca"
        ):
            mapped(lambda a: a + constant)(HOST)
        with pytest.raises(ValueError, match="operands of mul vary over different axes"):
            mapped(lambda a: lax.scan(lambda c, x: (c, x * constant), 0, a)[1])(HOST)
        np.testing.assert_array_equal(mapped(cast)(HOST), HOST + 1)
        shard_map(
            lambda a: a + constant, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False
        )(HOST)
    np.testing.assert_array_equal(mapped(lambda a: a + constant)(HOST), HOST + 1)


def test_types_can_be_silent_of_axes_of_one_device(devices):
    told = Mesh(np.array(devices).reshape(8, 1), ("i", "one"), AxisType.Explicit)
    auto = told.update(axis_types=(AxisType.Auto,) * 2)
    f = shard_map(
        lambda a: lax.psum(a, "i") * (lax.axis_index("one") + 1.0),
        mesh=auto, in_specs=P("i", "one"), out_specs=P(),
    )  # fmt: skip
    with pytest.raises(ValueError, match="may differ along the axis 'one'"):
        f(HOST)
    with remove_size_one_mesh_axis_from_type(True):
        x = dovetail.device_put(HOST, NamedSharding(told, P("i", "one")))
        assert str(typeof(x)) == "float32[8@i,4]" and (x + 1).sharding.spec == P("i", None)
        np.testing.assert_array_equal(f(HOST), HOST.sum(0, keepdims=True))
    x = dovetail.device_put(HOST, NamedSharding(told, P("i", "one")))
    assert str(typeof(x + 0)) == "float32[8@i,4@one]"


def test_options_are_context_managers_of_dovetail():
    assert dovetail.auto_pcast is auto_pcast
    with dovetail.remove_size_one_mesh_axis_from_type(True):
        assert remove_size_one_mesh_axis_from_type.value
    assert not remove_size_one_mesh_axis_from_type.value
