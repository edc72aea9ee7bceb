"""Arrays on several devices: their parts, and shardings' attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dovetail_backends import Shard, device_put, value_of
from dovetail_xla.client import device_list
from dovetail_xla.shardings import GSPMDSharding, HloSharding, single_device_sharding

WHOLE = (slice(None), slice(None))


@pytest.fixture
def rows(devices):
    """Two halves of the rows, each on two devices."""
    text = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"
    return GSPMDSharding(device_list(devices), HloSharding.from_string(text))


@pytest.fixture
def whole():
    return np.arange(8, dtype=np.float32).reshape(4, 2)


def test_parts(rows, whole, devices):
    x = device_put(whole, rows)
    np.testing.assert_array_equal(value_of(x), whole)
    parts = x.addressable_shards
    assert [p.device for p in parts] == devices
    assert [p.replica_id for p in parts] == [0, 1, 0, 1]
    for p in parts:
        np.testing.assert_array_equal(value_of(p.data), whole[p.index])
    assert [g.device for g in x.global_shards] == devices
    assert x.addressable_data(2).tolist() == whole[2:].tolist()
    assert x.devices() == set(devices) and x.device is x.sharding
    assert x.is_fully_addressable and not x.is_fully_replicated and x.committed


def test_parts_of_one(put):
    x = put([[1, 2]])
    (part,) = x.addressable_shards
    assert part.data is x and part.index == WHOLE and part.replica_id == 0
    assert repr(part).startswith("Shard(device=CpuDevice(id=0), index=(slice(None")
    assert Shard(x.device, x.sharding, (1, 2)).data is None


def test_sharding_attributes(rows, devices):
    assert rows.device_set == rows.addressable_devices == set(devices)
    assert rows.num_devices == 4 and rows.is_fully_addressable and rows.has_addressable_devices
    assert rows.shard_shape((4, 2)) == (2, 2)
    assert rows.devices_indices_map((4, 2)) == rows.addressable_devices_indices_map((4, 2))
    assert rows.devices_indices_map((4, 2))[devices[3]] == (slice(2, 4), slice(None))
    with pytest.raises(ValueError, match="size 3, which 2 shards do not divide"):
        rows.shard_shape((3, 2))


def test_single_device_sharding(devices):
    shardings: list[Any] = list(map(single_device_sharding, devices[:2]))
    here, there = shardings
    assert repr(here) == "SingleDeviceSharding(device=CpuDevice(id=0), memory_kind=device)"
    assert here.is_fully_replicated and here.shard_shape((3, 2)) == (3, 2)
    assert here.is_equivalent_to(here, 2) and not here.is_equivalent_to(there, 2)
    assert here.with_memory_kind("pinned_host").memory_kind == "pinned_host"


def test_between_shardings(rows, whole, devices):
    x = device_put(whole, rows)
    gathered = device_put(x, devices[1])
    assert gathered.device == devices[1] and gathered.tolist() == whole.tolist()
    columns = GSPMDSharding(
        device_list(devices),
        HloSharding.from_string("{devices=[1,2,2]<=[4] last_tile_dim_replicate}"),
    )
    y = device_put(x, columns)
    assert y.sharding is columns and y.addressable_data(0).shape == (4, 1)
    assert y.tolist() == whole.tolist()
    assert device_put(gathered, rows).addressable_data(3).tolist() == whole[2:].tolist()
