"""``NamedSharding``: which device has which part."""

from __future__ import annotations

import copy
import pickle

import pytest

from dovetail import NamedSharding, P
from dovetail.sharding import AbstractMesh, Mesh, Sharding, SingleDeviceSharding
from dovetail_xla.shardings import single_device_sharding

ALL = slice(None)


def indices(mesh, spec, shape):
    return list(NamedSharding(mesh, spec).devices_indices_map(shape).values())


def test_which_device_has_which_part(mesh, devices):
    s = NamedSharding(mesh, P("x", "y"))
    assert list(s.devices_indices_map((8, 4))) == devices
    assert s.addressable_devices_indices_map((8, 4)) == s.devices_indices_map((8, 4))
    assert indices(mesh, P("x", "y"), (8, 4))[3] == (slice(2, 4), slice(2, 4))
    both = [slice(i, i + 1) for i in range(8)]
    assert [i for (i,) in indices(mesh, P(("x", "y")), (8,))] == both
    crossed = [both[i] for i in (0, 4, 1, 5, 2, 6, 3, 7)]
    assert [i for (i,) in indices(mesh, P(("y", "x")), (8,))] == crossed
    quarters = [(ALL, slice(i, i + 1)) for i in (0, 0, 1, 1, 2, 2, 3, 3)]
    assert indices(mesh, P(None, "x"), (16, 4)) == quarters
    assert indices(mesh, P(), (3,)) == [(ALL,)] * 8


def test_attributes(mesh, devices):
    s = NamedSharding(mesh, P("x", "y"))
    assert isinstance(s, Sharding) and s.mesh is mesh and s.spec is P("x", "y")
    assert s.device_set == s.addressable_devices == set(devices) and s.num_devices == 8
    assert s._device_assignment == s._addressable_device_assignment == tuple(devices)
    assert s.is_fully_addressable and s.has_addressable_devices and not s.is_fully_replicated
    assert NamedSharding(mesh, P(None)).is_fully_replicated
    assert not NamedSharding(mesh, P(None, "y")).is_fully_replicated
    assert s.shard_shape((16, 4)) == (4, 2) and s.memory_kind == "device"
    assert NamedSharding(mesh, P("x")).replicated_axes == {"y"}
    s.check_compatible_aval((8, 8))


def test_spelling_and_changes(mesh):
    s = NamedSharding(mesh, P("x"))
    text = "NamedSharding(mesh=Mesh('x': 4, 'y': 2, axis_types=(Auto, Auto)), spec=P('x',), "
    assert repr(s) == f"{text}memory_kind=device)"
    host = s.with_memory_kind("pinned_host")
    assert repr(host) == f"{text}memory_kind=pinned_host)"
    assert host == s.update(memory_kind="pinned_host") != s
    assert s.update(spec=P("y")) == NamedSharding(mesh, P("y")) != s
    assert hash(NamedSharding(mesh, P("x"))) == hash(s) and copy.deepcopy(s) == s


def test_equivalence(mesh, devices):
    def named(spec, mesh=mesh):
        return NamedSharding(mesh, spec)

    line = Mesh(devices, "z")
    assert named(P("x")) != named(P("x", None))
    assert named(P("x")).is_equivalent_to(named(P("x", None)), 2)
    assert named(P(("x", "y"))).is_equivalent_to(named(P("z"), line), 2)
    assert not named(P("x")).is_equivalent_to(named(P("z"), line), 2)
    one = single_device_sharding(devices[0])
    assert named(P("z"), Mesh(devices[:1], "z")).is_equivalent_to(one, 1)
    assert not named(P("x")).is_equivalent_to(one, 1)


def test_without_devices(mesh):
    abstract = AbstractMesh((4, 2), ("x", "y"))
    s = NamedSharding(abstract, P("x"))
    assert repr(s) == f"NamedSharding(mesh={abstract!r}, spec=P('x',))"
    assert s.num_devices == 8 and s.shard_shape((8,)) == (2,) and not s.is_fully_replicated
    assert s.memory_kind is None and pickle.loads(pickle.dumps(s)) == s
    assert s.is_equivalent_to(NamedSharding(abstract, P("x", None)), 2)
    assert not s.is_equivalent_to(NamedSharding(mesh, P("x")), 2)
    for name in ("device_set", "is_fully_addressable", "addressable_devices"):
        with pytest.raises(ValueError, match=rf"{name} of NamedSharding.* has no devices"):
            getattr(s, name)
    with pytest.raises(ValueError, match="devices_indices_map of NamedSharding"):
        s.devices_indices_map((8,))


def test_single_device(devices):
    s = SingleDeviceSharding(devices[1])
    assert s == single_device_sharding(devices[1]) and s._device_assignment == (devices[1],)
    assert isinstance(s, Sharding) and s.is_fully_replicated and s.num_devices == 1
    with pytest.raises(ValueError, match="memory kinds: device, pinned_host"):
        SingleDeviceSharding(devices[1], memory_kind="bogus")


def test_bad_shardings(mesh, explicit):
    with pytest.raises(TypeError, match=r"takes a Mesh .* got the spec 'x'"):
        NamedSharding(mesh, "x")
    with pytest.raises(ValueError, match=r"P\('z',\) names the axis 'z', .* axes \('x', 'y'\)"):
        NamedSharding(mesh, P("z"))
    for spec in (P("x", "x"), P(("x", "x"))):
        with pytest.raises(ValueError, match="names the axis 'x' twice"):
            NamedSharding(mesh, spec)
    assert NamedSharding(explicit, P("x", unreduced={"y"})).spec.unreduced == {"y"}
    with pytest.raises(ValueError, match="which only axes of type Explicit can be"):
        NamedSharding(mesh, P("x", unreduced={"y"}))
    with pytest.raises(ValueError, match=r"no axis of the mesh .* is of type Auto"):
        NamedSharding(explicit, P(P.UNCONSTRAINED))
    s = NamedSharding(mesh, P("x", "y"))
    with pytest.raises(
        ValueError, match=r"dimension 0 .* has size 15, which 4 shards do not divide"
    ):
        s.shard_shape((15, 4))
    with pytest.raises(ValueError, match=r"at least 2 dimensions, and the array has shape \(16,\)"):
        s.check_compatible_aval((16,))
