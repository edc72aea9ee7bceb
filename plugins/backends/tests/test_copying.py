"""Copies of arrays and pickled arrays."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from dovetail_backends import device_put
from dovetail_core import enable_x64


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickle(value, protocol):
    x = device_put(value)
    y = pickle.loads(pickle.dumps(x, protocol))
    assert y.aval is x.aval and y.tobytes() == x.tobytes()


def test_pickle_keeps_weak_types_and_wide_ones():
    assert pickle.loads(pickle.dumps(device_put(1.0))).weak_type
    with enable_x64(True):
        wide = pickle.dumps(device_put(np.float64(1 / 3)))
    assert pickle.loads(wide).dtype == np.float64
    assert float(pickle.loads(wide)) == 1 / 3


def test_copies_have_their_own_memory(put, devices):
    x = device_put(put([1, 2]), devices[3])
    for y in (copy.copy(x), copy.deepcopy({"a": x})["a"]):
        assert y.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
        assert y.aval is x.aval and y.device == devices[3] and y.tolist() == [1, 2]
        assert y.committed
        y.delete()
    assert x.tolist() == [1, 2]
