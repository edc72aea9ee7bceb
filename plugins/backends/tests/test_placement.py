"""Moving values to devices and back."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
from dovetail_backends import (
    block_until_ready,
    copy_to_host_async,
    device_get,
    device_put,
    live_arrays,
)
from dovetail_backends.memory import Space
from dovetail_backends.selection import default_device, target_device
from dovetail_core import Tracer, UnexpectedTracerError, float0, stage
from dovetail_jit import jit
from dovetail_xla.shardings import single_device_sharding


def test_default_device():
    x = device_put(1.0)
    assert x.device == target_device() and not x.committed


def test_to_a_device(devices):
    for x in (np.ones(2), 2.0, device_put(1), device_put(1, devices[0])):
        y = device_put(x, devices[1])
        assert y.device == devices[1] and y.committed
        np.testing.assert_array_equal(y, x)


def test_to_its_own_device_shares_memory(put):
    x = put([1, 2])
    y = device_put(x, x.device)
    assert y.committed and not x.committed
    assert y.unsafe_buffer_pointer() == x.unsafe_buffer_pointer()
    assert device_put(x) is x
    z = device_put(x, x.device, may_alias=False)
    assert z.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
    w = device_put(x, may_alias=False)
    assert w.unsafe_buffer_pointer() != x.unsafe_buffer_pointer() and not w.committed


def test_donation_to_its_own_device_gives_nothing_away(put):
    x = put([1, 2])
    y = device_put(x, x.device, donate=True)
    assert y.tolist() == x.tolist() == [1, 2]


def test_memory_kinds(devices):
    pinned = single_device_sharding(devices[0], "pinned_host")
    for x in (3.0, np.float32(3), device_put(3.0, devices[0]), device_put(3.0, devices[1])):
        y = device_put(x, pinned)
        assert y.sharding.memory_kind == "pinned_host" and float(y) == 3
        assert device_put(y, devices[0]).sharding.memory_kind != "pinned_host"


def test_trees(put, devices):
    x = put([1, 2])
    result = device_put({"a": x, "b": (1.0, [2, None])}, {"a": devices[1], "b": devices[2]})
    assert result["a"].device == devices[1]
    assert [y.device for y in (result["b"][0], result["b"][1][0])] == [devices[2]] * 2
    assert result["b"][1][1] is None
    one, other = device_put((1, 2), (devices[1], None))
    assert one.device == devices[1] and other.device == target_device()
    y, z = device_put(x, devices[1]), device_put(x, devices[1])
    device_put((y, z), devices[2], donate=(True, False))
    assert y.is_deleted() and not z.is_deleted()


def test_device_must_be_a_prefix(devices):
    text = r"device_put: device must be a tree prefix of x\. .*\n.*length 1 against length 2"
    with pytest.raises(ValueError, match=text):
        device_put([1, 2], [devices[0]])


@pytest.mark.parametrize("bad", ["cpu", 3, True])
def test_not_a_device(bad):
    with pytest.raises(ValueError, match=r"cannot put a value on .*: give a device \(dovetail\."):
        device_put(1, bad)


def test_donate_and_alias(put):
    with pytest.raises(ValueError, match=r"both donate and may_alias.*Drop one"):
        device_put(put([1]), donate=True, may_alias=True)


@pytest.mark.parametrize("bad", ["abc", object(), {1, 2}, np.array(["a"]), np.array([object()])])
def test_not_an_array(bad):
    with pytest.raises(TypeError, match="is not a valid array value"):
        device_put(bad)


def test_device_get(put):
    marker = object()
    result = device_get({"a": put([1, 2]), "b": 3, "c": [marker, None], "d": np.ones(1)})
    assert type(result["a"]) is np.ndarray and result["a"].tolist() == [1, 2]
    assert result["b"] == 3 and result["c"] == [marker, None] and type(result["d"]) is np.ndarray


def test_waiting(put):
    class Waiter:
        waited = copied = False

        def block_until_ready(self):
            self.waited = True

        def copy_to_host_async(self):
            self.copied = True

    tree = {"a": put([1]), "b": Waiter(), "c": "text", "d": 1}
    assert block_until_ready(tree) is tree and tree["b"].waited
    assert copy_to_host_async(tree) is tree and tree["b"].copied
    assert block_until_ready([]) == []


def test_live_arrays(put):
    x, y = put([1, 2, 3]), put([4])
    y.delete()
    addresses = {a.unsafe_buffer_pointer() for a in live_arrays()}
    assert x.unsafe_buffer_pointer() in addresses
    assert not any(a.is_deleted() for a in live_arrays("cpu"))
    with pytest.raises(RuntimeError, match="Unknown backend 'nowhere'"):
        live_arrays("nowhere")


def test_default_device_option(devices):
    with default_device(devices[3]):
        assert device_put(1.0).device == devices[3]
        assert not device_put(1.0).committed
    with default_device("cpu"):
        assert device_put(1.0).device.platform == "cpu"
    assert device_put(1.0).device != devices[3]


def test_values_without_elements_stay():
    nothing = np.zeros(3, float0)
    assert device_put(nothing) is nothing


def test_leaked_tracer():
    leaked: list[Tracer] = []
    aval = device_put(1.0).aval
    stage(lambda x: leaked.append(x) or [x], [aval])
    with pytest.raises(UnexpectedTracerError, match="left a trace, which is over, and is used at"):
        device_put(leaked[0])


def test_to_a_kind_of_memory():
    x = device_put(np.ones(3))
    for space, kind in ((Space.Host, "pinned_host"), (Space.Device, "device")):
        for given in (x, np.ones(3), 1.0):
            y = device_put(given, space)
            assert y.sharding.memory_kind == kind and y.device == x.device
            np.testing.assert_array_equal(y, given)
    np.testing.assert_array_equal(jit(lambda x: device_put(x, Space.Host) + 1)(x), 2)
    with pytest.raises(ValueError, match=r"Space\.Any names no memory"):
        device_put(x, Space.Any)


def test_memory_of_numpy_arrays_is_shared_where_that_is_asked_for():
    memory = np.zeros(4096 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    x = memory[start : start + 4096].view(np.float32)
    for device in (None, dovetail.devices()[0]):
        copied = dovetail.device_put(x, device)
        assert copied.unsafe_buffer_pointer() != x.ctypes.data
        shared = dovetail.device_put(x, device, may_alias=True)
        assert shared.unsafe_buffer_pointer() == x.ctypes.data
        assert shared.committed is (device is not None)
        assert dovetail.device_put(x[1:], device, may_alias=True).sum() == 0  # not aligned
    del x, memory
    assert (shared + 1 == 1).all()
