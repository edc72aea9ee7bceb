"""The mesh that is set."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail as dt
from dovetail import P, set_mesh
from dovetail.sharding import (
    AbstractMesh,
    get_abstract_mesh,
    get_mesh,
    use_abstract_mesh,
)
from dovetail_sharding.contexts import resource_mesh


def test_set_mesh(mesh, explicit):
    assert get_mesh().empty and get_abstract_mesh().empty
    with set_mesh(mesh) as nothing:
        assert nothing is None
        assert get_mesh() is mesh and get_abstract_mesh() is mesh.abstract_mesh
        with set_mesh(explicit):
            assert get_mesh() is explicit
        with set_mesh(None):
            assert get_mesh().empty and get_abstract_mesh().empty
        assert get_mesh() is mesh
    assert get_mesh().empty
    before = set_mesh(mesh)
    assert get_mesh() is mesh
    before.__exit__()
    assert get_mesh().empty


def test_abstract(mesh):
    abstract = AbstractMesh((4, 2), ("x", "y"))
    with use_abstract_mesh(abstract):
        assert get_abstract_mesh() is abstract and get_mesh().empty
    assert get_abstract_mesh().empty
    with pytest.raises(ValueError, match="takes an AbstractMesh, got a value of type Mesh"):
        use_abstract_mesh(mesh)
    for wrong in (abstract, 3):
        with pytest.raises(ValueError, match=rf"takes a Mesh, .* of type {type(wrong).__name__}"):
            set_mesh(wrong)


def test_while_tracing(mesh):
    seen = []

    @dt.jit
    def f(x):
        seen.append(get_abstract_mesh())
        return x

    for _ in range(2):
        f(1.0)
        with set_mesh(mesh):
            f(1.0)
    assert [m.empty for m in seen] == [True, False]
    with pytest.raises(ValueError, match="use get_abstract_mesh"):
        dt.make_jaxpr(lambda x: get_mesh() and x)(1.0)
    with pytest.raises(ValueError, match="set the mesh around the call"):
        dt.make_jaxpr(lambda x: set_mesh(mesh) and x)(1.0)


def test_mesh_as_a_context(mesh):
    with pytest.warns(DeprecationWarning, match="set_mesh"), mesh:
        assert resource_mesh() is mesh and get_mesh().empty
    assert resource_mesh().empty
    decorated = mesh(resource_mesh)
    with pytest.warns(DeprecationWarning, match="set_mesh"):
        assert decorated() is mesh and decorated.__name__ == "resource_mesh"


def test_specs_refer_to_it(mesh):
    data = np.arange(8.0)
    with set_mesh(mesh):
        x = dt.device_put({"a": data}, P("y"))["a"]
        s = dt.ShapeDtypeStruct((8,), np.float32, sharding=P("y")).sharding
    assert x.sharding == s == dt.NamedSharding(mesh, P("y"))
    with pytest.warns(DeprecationWarning, match="set_mesh"), mesh:
        entered = dt.jit(lambda x: x + 1, out_shardings=P("y"))(data)
        constrained = dt.lax.with_sharding_constraint(data, P("y"))
    assert entered.sharding == constrained.sharding == s
    with pytest.raises(
        ValueError, match=r"device of device_put has a PartitionSpec.* no mesh is set"
    ):
        dt.device_put(data, P("y"))
    with pytest.raises(RuntimeError, match=r"in_shardings of jit of .* has a PartitionSpec"):
        dt.jit(abs, in_shardings=P("y"))(data)
    with pytest.raises(RuntimeError, match=r"with_sharding_constraint has a PartitionSpec"):
        dt.lax.with_sharding_constraint(data, P("y"))
