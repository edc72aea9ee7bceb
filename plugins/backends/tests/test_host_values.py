"""Host values as arrays: converted to the type, and never sharing the user's memory."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from dovetail_backends import asarray_on, device_put, put_host
from dovetail_core import ShapedArray, enable_x64, float0


def aligned(count: int, dtype: Any = np.float32) -> np.ndarray:
    """An array that begins at a multiple of 64 bytes, as the runtime would like to share it."""
    size = count * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size].view(dtype)


@pytest.mark.parametrize("count", [1, 16, 4096])
def test_later_writes_do_not_show(count):
    value = aligned(count)
    x = device_put(value)
    value[:] = 7
    assert x.tolist() == [0] * count


def test_any_layout(put):
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)
    for value in (whole.T, whole[::2, ::3], whole[::-1], np.broadcast_to(whole[0], (3, 6))):
        np.testing.assert_array_equal(device_put(value), value)


def test_narrowing():
    assert device_put(np.float64(0.1)).dtype == np.float32
    assert device_put(np.arange(3)).dtype == np.int32
    assert device_put(np.int64(2**40 + 5)).item() == 5
    assert device_put(np.float64(1e300)).item() == np.inf
    with enable_x64(True):
        assert device_put(np.float64(0.1)).item() == 0.1
        assert device_put(2**40).item() == 2**40
        assert device_put(1).dtype == np.int64


def test_byte_order():
    x = device_put(np.array([1, 2], ">i4"))
    assert x.dtype == np.int32 and x.tolist() == [1, 2]


def test_python_scalars():
    assert put_host(1, ShapedArray((), np.float32)).item() == 1.0
    assert put_host(2, ShapedArray((), ml_dtypes.bfloat16, True)).weak_type
    text = r"the Python integer 1099511627776 does not fit into int32 at .*test_host_values\.py"
    with pytest.raises(OverflowError, match=text):
        device_put(2**40)
    with pytest.raises(OverflowError, match="-1 does not fit into uint8"):
        put_host(-1, ShapedArray((), np.uint8))


def test_wrong_shapes():
    with pytest.raises(ValueError, match=r"shape \(2,\) is given where the type is f32\[3\]"):
        put_host(np.ones(2), ShapedArray((3,), np.float32))
    with pytest.raises(ValueError, match=r"a scalar is given where the type is f32\[3\]"):
        put_host(1.0, ShapedArray((3,), np.float32))


@pytest.mark.parametrize("dtype", [np.longdouble, np.dtype([("a", "f4")]), "V3"])
def test_what_devices_cannot_hold(dtype):
    with pytest.raises(TypeError, match=r"(can be traced|no such elements)\. Convert it first"):
        device_put(np.zeros(2, dtype))


def test_masks_are_not_lost():
    masked = np.ma.masked_array([1.0, 2.0], [False, True])
    with pytest.raises(
        ValueError, match=r"its mask would be lost in device_put at .*values.* Pass x\.filled"
    ):
        device_put(masked)


def test_subclasses_of_numpy_arrays():
    class Special(np.ndarray):
        pass

    assert device_put(np.ones((1, 2)).view(Special)).shape == (1, 2)


def test_nothing_becomes_booleans():
    """Compiled programs take booleans for what has no elements of its own."""
    x = put_host(np.zeros(3, float0), ShapedArray((3,), float0))
    assert x.dtype == np.bool_ and x.shape == (3,)


def test_arrays_stay_where_they_are(put, devices):
    x = put([1, 2])
    assert asarray_on(x, x.aval, x.device) is x
    assert asarray_on(x, x.aval, devices[2]).device == devices[2]
    assert not asarray_on(x, x.aval, devices[2]).committed
    assert asarray_on(1.0, ShapedArray((), np.float32), devices[1], committed=True).committed
