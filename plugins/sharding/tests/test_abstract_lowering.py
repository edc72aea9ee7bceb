"""Programs for devices that are not there, and what else programs are told of meshes."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail as dt
from dovetail import NamedSharding, P, lax, shard_map
from dovetail.sharding import AbstractMesh

X = np.arange(32, dtype=np.float32).reshape(8, 4)
MANY = AbstractMesh((1024, 4), ("x", "y"))


def _struct(spec, mesh=MANY):
    return dt.ShapeDtypeStruct((4096, 8), np.float32, sharding=NamedSharding(mesh, spec))


def test_lowering_for_an_abstract_mesh():
    traced = dt.jit(lambda a: a * 2).trace(_struct(P("x", "y")))
    lowered = traced.lower(lowering_platforms=("cpu",))
    text = lowered.as_text()
    assert "mhlo.num_partitions = 4096" in text and '[{"x"}, {"y"}]' in text
    f = shard_map(lambda a: lax.psum(a, "x"), mesh=MANY, in_specs=P("x"), out_specs=P())
    text = dt.jit(f).trace(_struct(P("x"))).lower(lowering_platforms=("cpu",)).as_text()
    assert "stablehlo.all_reduce" in text and "tensor<4x8xf32>" in text
    options = {"in_shardings": NamedSharding(MANY, P("x")), "out_shardings": _struct(P()).sharding}
    given = dt.jit(lambda a: a * 2, **options).trace(dt.ShapeDtypeStruct((4096, 8), np.float32))
    assert "4096" in given.lower(lowering_platforms=("cpu",)).as_text()
    for call, error in (
        (lambda: dt.jit(lambda a: a).lower(_struct(P())), "Name the platform"),
        (lowered.compile, "Lowering is all that is possible"),
    ):
        with pytest.raises(ValueError, match=f"for 4096 devices of an abstract mesh.*{error}"):
            call()
    other = _struct(P(), AbstractMesh((8,), ("z",)))
    text = r"is on the devices 0 to 4095 of an abstract mesh, leaf 1 .* on 0 to 7 of"
    with pytest.raises(ValueError, match=text):
        dt.jit(lambda a, b: a + b).trace(_struct(P()), other).lower(lowering_platforms=("cpu",))


def test_keys_from_parts(mesh, devices):
    keys = dt.random.split(dt.random.key(0), 8)
    place = NamedSharding(mesh, P(("x", "y")))
    made = dt.make_array_from_callback((8,), place, lambda index: keys[index])
    parts = [dt.device_put(keys[i : i + 1], d) for i, d in enumerate(devices)]
    joined = dt.make_array_from_single_device_arrays((8,), place, parts[::-1])
    for result in (made, joined):
        assert result.sharding == place and result.dtype == keys.dtype
        assert bool((result == keys).all())
    halves = dt.make_array_from_callback((8,), NamedSharding(mesh, P("y")), lambda i: keys[i])
    assert bool((halves == keys).all())


def test_specs_and_meshes_around(mesh):
    f = dt.jit(lambda a: lax.with_sharding_constraint(a * 2, P("x")))
    with pytest.warns(DeprecationWarning), mesh:
        out = f(X)
    assert out.sharding == NamedSharding(mesh, P("x"))
    g = dt.vmap(lambda a: lax.with_sharding_constraint(a, NamedSharding(mesh, P("x"))),
                spmd_axis_name="y")  # fmt: skip
    assert dt.jit(g)(np.stack([X, X])).sharding.spec == P("y", "x")


def test_donated_shards_and_specs_with_an_axis_twice(mesh):
    place = NamedSharding(mesh, P("x"))
    x = dt.device_put(X, place)
    dt.jit(lambda a: a * 2, donate_argnums=0)(x)
    for use in (
        lambda: dt.jit(lambda a: a + 1)(x),
        lambda: dt.device_put(x, NamedSharding(mesh, P())),
    ):
        with pytest.raises(RuntimeError, match=r"deleted|donated"):
            use()
    f = shard_map(lambda a: a, mesh=mesh, in_specs=P("x", "x"), out_specs=P("x"))
    with pytest.raises(ValueError, match="in_specs names the axis 'x' twice in P"):
        f(X)
