"""Exchanging memory with other libraries; NumPy is the other library here."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from dovetail_backends import device_put, from_dlpack
from dovetail_backends.dlpack import is_supported_dtype
from dovetail_core import enable_x64

from .test_host_values import aligned

EXCHANGED = (
    "bool int8 int16 int32 uint8 uint16 uint32 float16 float32 complex64 int64 float64".split()
)


@pytest.mark.parametrize("dtype", EXCHANGED)
def test_there_and_back(dtype):
    with enable_x64(True):
        x = device_put(np.array([[0, 1, 3]], dtype))
        view = np.from_dlpack(x)
        assert view.dtype == dtype and view.tolist() == x.tolist()
        assert view.ctypes.data == x.unsafe_buffer_pointer()
        y = from_dlpack(view.copy())
        assert y.aval is x.aval and y.tolist() == x.tolist() and y.committed


def test_shares_aligned_memory():
    value = aligned(16)
    x = from_dlpack(value, copy=False)
    assert x.unsafe_buffer_pointer() == value.ctypes.data
    y = from_dlpack(value, copy=True)
    assert y.unsafe_buffer_pointer() != value.ctypes.data
    value[:] = 5
    assert x.tolist() == [5] * 16 and y.tolist() == [0] * 16


@pytest.mark.parametrize(
    "view", [lambda a: a.T, lambda a: a[::2], lambda a: a[:, ::-1], lambda a: a[1:]]
)
def test_any_strides(view):
    value = view(aligned(24).reshape(4, 6))
    value[...] = np.arange(value.size).reshape(value.shape)
    np.testing.assert_array_equal(from_dlpack(value), value)
    with pytest.raises(ValueError, match=r"copy=False: the array's memory cannot be shared.*Drop"):
        from_dlpack(value, copy=False)


def test_read_only_memory():
    value = aligned(16)
    value.flags.writeable = False
    assert from_dlpack(value).tolist() == [0] * 16


def test_numpy_arrays_that_numpy_does_not_export():
    x = from_dlpack(np.ones(2, ml_dtypes.bfloat16))
    assert x.dtype == ml_dtypes.bfloat16 and x.tolist() == [1, 1]


def test_wide_types_narrow():
    assert from_dlpack(np.ones(3)).dtype == np.float32
    with pytest.raises(ValueError, match="64-bit type while enable_x64 is off"):
        from_dlpack(aligned(8, np.float64), copy=False)


def test_own_arrays(put):
    x = put([1, 2])
    assert from_dlpack(x) is x
    assert from_dlpack(x, copy=True).unsafe_buffer_pointer() != x.unsafe_buffer_pointer()


def test_device(devices):
    assert from_dlpack(np.ones(2), devices[2]).device == devices[2]
    with pytest.raises(ValueError, match=r"is on cpu:0, so to put it on cpu:2 it must be copied"):
        from_dlpack(aligned(16), devices[2], copy=False)


def test_export(put):
    x = put([1, 2])
    kind, index = x.__dlpack_device__()
    assert (int(kind), index) == (1, 0)
    for options in ({}, {"max_version": (1, 0)}, {"dl_device": (1, 0)}, {"copy": True}):
        assert "dltensor" in repr(x.__dlpack__(**options))
    assert np.from_dlpack(x).flags.writeable is False


def test_refused_exports(put):
    x = put([1, 2])
    with pytest.raises(BufferError, match=r"on the DLPack device \(1, 0\), not on \(2, 0\): move"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="no streams"):
        x.__dlpack__(stream=1)
    with pytest.raises(BufferError, match=r"i4\[2\] cannot be exchanged by DLPack: convert it"):
        device_put(np.ones(2, ml_dtypes.int4)).__dlpack__()


def test_refused_imports():
    with pytest.raises(TypeError, match="__dlpack__ and __dlpack_device__, got object"):
        from_dlpack(object())
    with pytest.raises(TypeError, match="itself, not a capsule"):
        from_dlpack(np.ones(2).__dlpack__())

    class Elsewhere:
        def __dlpack__(self, **options):
            raise AssertionError("not to be called")

        def __dlpack_device__(self):
            return (7, 0)

    with pytest.raises(RuntimeError, match=r"device type 7, only kDLCPU \(1\), kDLCUDA"):
        from_dlpack(Elsewhere())


def test_supported_dtypes():
    assert is_supported_dtype(np.float32) and is_supported_dtype(ml_dtypes.bfloat16)
    assert not is_supported_dtype(ml_dtypes.int4)


def test_a_list_is_no_device():
    with pytest.raises(ValueError, match="from_dlpack needs a single device, or None, got"):
        from_dlpack(np.ones(3), device=[np.ones(3)])
