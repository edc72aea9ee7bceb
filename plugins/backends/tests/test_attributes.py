"""The attributes of arrays, and what counts as one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Hashable
from typing import Any

import numpy as np
import pytest

from dovetail_backends import Array, device_put
from dovetail_backends.array import type_of_array
from dovetail_core import ShapedArray, stage, typeof
from dovetail_xla import arrays
from dovetail_xla.shardings import single_device_sharding


def test_type(value):
    x = device_put(value)
    assert x.shape == (2, 3) and x.ndim == 2 and x.size == 6
    assert x.dtype == value.dtype and x.itemsize == value.itemsize and x.nbytes == value.nbytes
    assert not x.weak_type
    assert typeof(x) is x.aval is ShapedArray((2, 3), value.dtype)


def test_weak_type():
    assert device_put(1.0).weak_type
    assert typeof(device_put(1)) is ShapedArray((), np.int32, True)
    assert not device_put(np.float32(1)).weak_type


def test_place(put):
    x = put([1, 2])
    (device,) = x.devices()
    assert x.device == device
    assert x.sharding is single_device_sharding(device)
    assert not x.committed
    assert x.is_fully_addressable and x.is_fully_replicated
    assert x.platform() == "cpu" and x.is_ready() and x.on_device_size_in_bytes() == 8


def test_isinstance(put):
    assert isinstance(put([1]), Array)
    assert not isinstance(np.ones(1), Array)
    assert not isinstance(1.0, Array)


def test_tracers_of_arrays_are_arrays():
    seen = []
    stage(lambda x: seen.append(isinstance(x, Array)) or [x], [ShapedArray((), np.float32)])
    assert seen == [True]


def test_not_hashable(put):
    with pytest.raises(TypeError, match=r"unhashable type: .*ArrayImpl"):
        hash(put([1]))
    assert not isinstance(put([1]), Hashable) and not issubclass(Array, Hashable)
    seen = []
    stage(lambda x: seen.append(isinstance(x, Hashable)) or [x], [ShapedArray((), np.float32)])
    assert seen == [False]


def test_not_assignable(put):
    x = put([1, 2])
    with pytest.raises(TypeError, match=r"f32\[2\]: arrays do not change.* x\.at\[\.\.\.\]\.set"):
        x[0] = 3


def test_unknown_attribute(put):
    x = put([1, 2])
    with pytest.raises(AttributeError, match=r"an array of type f32\[2\] has no attribute 'foo'"):
        x.foo  # noqa: B018
    assert not hasattr(x, "_foo")


def test_type_of_an_array_that_has_none(put):
    """C++ makes arrays of no type, or of a foreign one, where it was not told of ours in time."""

    class Foreign:
        shape, dtype, weak_type = (1, 2), np.dtype(np.float32), True

    x = put([[1, 2]])
    foreign: Any = arrays.assemble(Foreign(), x.sharding, [x], False)
    assert typeof(foreign) is ShapedArray((1, 2), np.float32, True)
    assert foreign.shape == (1, 2) and foreign.ndim == 2 and foreign.size == 2

    class Bare(np.ndarray):
        aval = None

    assert type_of_array(np.ones((1, 2), np.float32).view(Bare)) is x.aval


def test_priority_over_numpy(put):
    assert put([1]).__array_priority__ > np.ones(1).__array_priority__


def test_complete_with_the_first_array():
    """Nothing else has to be imported for an array to have all that it promises."""
    code = "import numpy as np, dovetail_backends as b; print(np.from_dlpack(b.device_put(1.5)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "1.5"
