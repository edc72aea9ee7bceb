"""Which device holds which part of an array."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail_xla import arrays, client, shardings, startup

Hlo = shardings.HloSharding


def parts(sharding, shape, count):
    """The elements that each device holds, of the array counting from 0."""
    whole = np.arange(np.prod(shape)).reshape(shape)
    return [whole[index].tolist() for index in shardings.shard_indices(sharding, shape, count)]


def test_replicated_arrays_are_whole_everywhere():
    assert parts(Hlo.replicate(), (2,), 3) == [[0, 1]] * 3


def test_tiles_are_numbered_row_major():
    assert parts(Hlo.iota_tile((2, 2)), (2, 4), 4) == [[[0, 1]], [[2, 3]], [[4, 5]], [[6, 7]]]


def test_transposed_device_orders_are_followed():
    sharding = Hlo.iota_tile((2, 2), reshape_dims=(2, 2), transpose_perm=(1, 0))
    assert parts(sharding, (2, 2), 4) == [[[0]], [[2]], [[1]], [[3]]]


def test_trailing_replication_gives_copies():
    sharding = Hlo.from_string("{devices=[2,1,2]<=[4] last_tile_dim_replicate}")
    assert parts(sharding, (2, 2), 4) == [[[0, 1]], [[0, 1]], [[2, 3]], [[2, 3]]]


def test_dimensions_must_divide():
    with pytest.raises(ValueError) as raised:
        shardings.shard_indices(Hlo.iota_tile((2, 2)), (4, 3), 4)
    assert str(raised.value) == (
        "dimension 1 of shape (4, 3) has size 3, which 2 shards do not divide"
    )


def test_a_manual_sharding_has_no_indices():
    with pytest.raises(ValueError, match="does not say which part each device holds"):
        shardings.shard_indices(Hlo.manual(), (4,), 4)


def test_the_sharding_of_a_device_is_one_object(device):
    assert shardings.single_device_sharding(device) is shardings.single_device_sharding(device)


def test_shardings_are_compared_by_value(cpu, device):
    devices = client.device_list(cpu.devices())
    single = shardings.SingleDeviceSharding
    gspmd = shardings.GSPMDSharding
    equal = [
        (single(device), shardings.single_device_sharding(device)),
        (gspmd(devices, Hlo.iota_tile((2,))), gspmd(devices, Hlo.iota_tile((2,)))),
    ]
    different = [
        (single(device), single(cpu.devices()[1])),
        (single(device), single(device, "pinned_host")),
        (single(device), gspmd(devices, Hlo.replicate())),
        (gspmd(devices, Hlo.replicate()), gspmd(devices, Hlo.iota_tile((2,)))),
    ]
    assert all(a == b and hash(a) == hash(b) for a, b in equal)
    assert not any(a == b for a, b in different)


def test_an_unknown_memory_kind_is_refused(device):
    with pytest.raises(ValueError, match="Got memory kind: nowhere"):
        shardings.single_device_sharding(device, "nowhere")


def test_every_class_tells_its_memory_kind_and_partition(cpu, device):
    devices = client.device_list(cpu.devices())
    tiled = Hlo.iota_tile((2,))
    single = shardings.single_device_sharding(device, "pinned_host")
    assert single.memory_kind == "pinned_host"
    assert single._to_xla_hlo_sharding(2).is_replicated()
    assert shardings.GSPMDSharding(devices, tiled)._to_xla_hlo_sharding(1) == tiled


def test_named_shardings_take_an_installed_partition(cpu, aval, monkeypatch):
    class Mesh:
        size = 2
        _internal_device_list = client.device_list(cpu.devices())

    monkeypatch.setattr(startup, "_pspec_check", None)
    monkeypatch.setattr(
        shardings.NamedSharding, "_to_xla_hlo_sharding", None, raising=False
    )  # so that it is as before afterwards
    shardings.install(
        shardings.NamedSharding, "_to_xla_hlo_sharding", lambda self, ndim: Hlo.iota_tile((2,))
    )
    named = shardings.NamedSharding(Mesh(), ("x",))
    assert named.memory_kind == "device"
    value = np.arange(4, dtype=np.float32)
    array = arrays.put_global(value, aval((4,)), named)
    np.testing.assert_array_equal(arrays.to_numpy(arrays.shards_of(array)[1]), [2, 3])
    np.testing.assert_array_equal(arrays.to_numpy(array), value)
