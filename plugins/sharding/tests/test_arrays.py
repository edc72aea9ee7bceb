"""Arrays on several devices: put there, made from parts, read back."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail as dt
from dovetail import NamedSharding, P
from dovetail.sharding import AbstractMesh, AxisType, Mesh
from dovetail_core import typeof

WHOLE = np.arange(64, dtype=np.float32).reshape(16, 4)


@pytest.mark.parametrize(
    "spec", [P(), P("x"), P(None, "y"), P("x", "y"), P(("y", "x")), P("y", "x")]
)
def test_there_and_back(mesh, spec, devices):
    s = NamedSharding(mesh, spec)
    x = dt.device_put(WHOLE, s)
    assert x.sharding is s and x.device is s and x.devices() == set(devices) and x.committed
    np.testing.assert_array_equal(np.asarray(x), WHOLE)
    assert x.is_fully_addressable and x.is_fully_replicated == (spec == P())
    for part, index in zip(x.addressable_shards, s.devices_indices_map(x.shape).values()):
        assert part.index == index
        np.testing.assert_array_equal(np.asarray(part.data), WHOLE[index])
    assert x.format.sharding is s and x.format.layout.major_to_minor == (0, 1)
    first = [p.replica_id for p in x.global_shards].count(0)
    assert first == len({str(p.index) for p in x.global_shards})


def test_between_places(mesh, devices):
    x = dt.device_put(WHOLE, NamedSharding(mesh, P("x", "y")))
    four = NamedSharding(Mesh(devices[:4], "z"), P("z"))
    for place in (devices[3], NamedSharding(mesh, P("y")), four):
        moved = dt.device_put(x, place)
        assert moved.device == place
        np.testing.assert_array_equal(np.asarray(moved), WHOLE)
        np.testing.assert_array_equal(np.asarray(dt.device_put(moved, x.sharding)), WHOLE)
    host = dt.device_put(x, x.sharding.with_memory_kind("pinned_host"))
    assert host.sharding.memory_kind == "pinned_host"
    np.testing.assert_array_equal(np.asarray(host), WHOLE)


def test_trees_and_formats(mesh):
    rows, columns = NamedSharding(mesh, P("x")), NamedSharding(mesh, P(None, "y"))
    tree = {"a": WHOLE, "b": [WHOLE, WHOLE]}
    put = dt.device_put(tree, {"a": rows, "b": columns})
    assert put["a"].sharding is rows and [x.sharding for x in put["b"]] == [columns, columns]
    x = dt.device_put(WHOLE, put["a"].format)
    assert x.sharding is rows and x.format == put["a"].format


def test_from_callback(mesh):
    s, calls = NamedSharding(mesh, P("x")), []

    def part(index):
        calls.append(index)
        return WHOLE[index]

    x = dt.make_array_from_callback((16, 4), s, part)
    assert x.sharding is s and len(calls) == 4 and x.dtype == np.float32
    np.testing.assert_array_equal(np.asarray(x), WHOLE)
    assert x.addressable_shards[5].replica_id == 1
    y = dt.make_array_from_callback((16, 4), s, lambda i: WHOLE[i].astype(np.float64))
    assert y.dtype == np.float32
    with pytest.raises(TypeError, match=r"dtype <U3 is not a valid array value.*from_callback"):
        dt.make_array_from_callback((16, 4), s, lambda i: np.full((4, 4), "abc"))
    one = dt.make_array_from_callback(
        (2,), NamedSharding(Mesh(mesh.devices[:1, 0], "z"), P()), lambda i: np.ones(2)
    )
    assert one.tolist() == [1, 1]
    with pytest.raises(ValueError, match=r"a part has shape \(16, 4\), .* have shape \(4, 4\)"):
        dt.make_array_from_callback((16, 4), s, lambda i: WHOLE)
    with pytest.raises(ValueError, match="a part has dtype float32, and the dtype that is asked"):
        dt.make_array_from_callback((16, 4), s, part, dtype=np.int32)
    abstract = NamedSharding(AbstractMesh((4, 2), ("x", "y")), P("x"))
    with pytest.raises(ValueError, match="has no devices"):
        dt.make_array_from_callback((16, 4), abstract, part)


def test_from_single_device_arrays(mesh, devices):
    s, make = NamedSharding(mesh, P("x")), dt.make_array_from_single_device_arrays
    parts = [dt.device_put(np.full(2, i // 2), d) for i, d in enumerate(devices)]
    assert make((8,), s, parts[::-1]).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    with pytest.raises(ValueError, match=r"has 8 devices .* and the 4 arrays are on"):
        make((8,), s, parts[:4])
    with pytest.raises(ValueError, match=r"a part has shape \(2,\), .* have shape \(3,\)"):
        make((12,), s, parts)
    with pytest.raises(TypeError, match="is no array on a device"):
        make((8,), s, [np.zeros(2)] * 8)
    with pytest.raises(TypeError, match="must be a list or a tuple"):
        make((8,), s, parts[0])
    with pytest.raises(ValueError, match="a part has dtype"):
        make((8,), s, parts, dtype=np.float32)
    with pytest.raises(ValueError, match="give the dtype"):
        make((8,), s, [])


def test_from_process_local_data(mesh):
    s, make = NamedSharding(mesh, P("x")), dt.make_array_from_process_local_data
    x = make(s, {"a": WHOLE}, {"a": (16, 4)})["a"]
    assert x.sharding is s and x.tolist() == WHOLE.tolist()
    for shape in ((32, 4), (None, 4)):
        with pytest.raises(ValueError, match=r"global_shape is \((32|None), 4\)"):
            make(s, WHOLE, shape)


def test_reshard(mesh, explicit):
    x = dt.device_put(WHOLE, NamedSharding(explicit, P("x")))
    y = dt.reshard({"a": x}, NamedSharding(explicit, P("y")))["a"]
    assert y.sharding == NamedSharding(explicit, P("y", None)) and y.tolist() == WHOLE.tolist()
    with dt.set_mesh(explicit):
        assert dt.reshard(x, P(None, "y")).sharding.spec == P(None, "y")
    with pytest.raises(ValueError, match="the axis 'y', which is of type Auto"):
        dt.reshard(x, NamedSharding(mesh, P("y")))
    with pytest.raises(TypeError, match="give a NamedSharding or a PartitionSpec"):
        dt.reshard(x, x.devices().pop())
    with pytest.raises(ValueError, match="must be a tree prefix of xs"):
        dt.reshard({"a": x}, [y.sharding])


def test_bad_places(mesh):
    with pytest.raises(ValueError, match=r"dimension 0 .* has size 6, which 4 shards"):
        dt.device_put(np.arange(6.0), NamedSharding(mesh, P("x")))
    with pytest.raises(ValueError, match="at least 2 dimensions"):
        dt.device_put(np.arange(8.0), NamedSharding(mesh, P("x", "y")))
    with pytest.raises(ValueError, match="has no devices: make the sharding with a Mesh"):
        dt.device_put(np.arange(8.0), NamedSharding(mesh.abstract_mesh, P("x")))
    x = dt.device_put(WHOLE, NamedSharding(mesh, P("x")))
    with pytest.raises(ValueError, match="has size 4, which 8 shards do not divide"):
        dt.device_put(x, NamedSharding(mesh, P(None, ("x", "y"))))


@pytest.mark.parametrize("spec", [P(), P("x"), P(None, "y"), P(("y", "x")), P("y", "x")], ids=str)
def test_moves_between_meshes_touch_no_host(spec, devices):
    """Of the same devices, in the same order or in another, and of as many others."""
    some = np.array(devices[:4])
    grids = {
        "same": some.reshape(2, 2), "other form": some.reshape(4, 1),
        "turned": some[::-1].reshape(2, 2), "others": np.array(devices[4:]).reshape(2, 2),
    }  # fmt: skip
    value = np.arange(32.0, dtype=np.float32).reshape(8, 4)
    start = NamedSharding(Mesh(grids["same"], ("x", "y")), P("x", "y"))
    x = dt.device_put(value, start)
    for name, grid in grids.items():
        for kind in (AxisType.Auto, AxisType.Explicit):
            wanted = NamedSharding(Mesh(grid, ("x", "y"), kind), spec)
            guard = "disallow_explicit" if name != "others" else "allow"
            with dt.transfer_guard(guard), dt.transfer_guard_host_to_device("disallow_explicit"):
                y = dt.device_put(x, wanted)
                back = dt.device_put(y, start)
            assert y.sharding == wanted and y.committed and back.sharding == start
            assert typeof(y).divided is typeof(dt.device_put(value, wanted)).divided
            np.testing.assert_array_equal(y, value)
            np.testing.assert_array_equal(back, value)
            for s in y.addressable_shards:
                np.testing.assert_array_equal(s.data, value[s.index])
