"""Use of arrays whose memory is gone: an error that tells deletion from donation, never a crash."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import dovetail_backends as backends
from dovetail_base import errors

USES = {
    "numpy.asarray": np.asarray,
    "tolist": lambda x: x.tolist(),
    "tobytes": lambda x: x.tobytes(),
    "item": lambda x: x.item(0),
    "block_until_ready": lambda x: x.block_until_ready(),
    "is_ready": lambda x: x.is_ready(),
    "clone": lambda x: x.clone(),
    "platform": lambda x: x.platform(),
    "on_device_size_in_bytes": lambda x: x.on_device_size_in_bytes(),
    "unsafe_buffer_pointer": lambda x: x.unsafe_buffer_pointer(),
    "copy_to_host_async": lambda x: x.copy_to_host_async(),
    "addressable_shards": lambda x: x.addressable_shards,
    "global_shards": lambda x: x.global_shards,
    "dlpack": lambda x: x.__dlpack__(),
    "from_dlpack": backends.from_dlpack,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
    "device_put": backends.device_put,
    "device_put to its device": lambda x: backends.device_put(x, x.device),
    "device_put as copy": lambda x: backends.device_put(x, may_alias=False),
    "device_get": backends.device_get,
    "all at once": lambda x: backends.block_until_ready({"a": x}),
    "asarray_on": lambda x: backends.asarray_on(x, x.aval, x.device),
}


@pytest.fixture(params=list(USES.values()), ids=list(USES))
def use(request):
    return request.param


def test_deleted(put, use):
    x = put([1, 2])
    x.delete()
    text = (
        r"an array of type f32\[2\] is used at .* after it was deleted at .*test_deleted\.py"
        r".*after its last use, or use a copy of it \(x\.copy\(\)\)"
    )
    with pytest.raises(RuntimeError, match=text):
        use(x)


def test_donated(put, use, devices):
    x = put([1, 2])
    y = backends.device_put(x, devices[1])
    z = backends.device_put(y, devices[2], donate=True)
    assert z.tolist() == [1, 2]
    text = r"f32\[2\] is used at .* after it was donated .*Use the result of that call in its place"
    with pytest.raises(RuntimeError, match=text):
        use(y)
    assert x.tolist() == [1, 2]


def test_what_needs_no_memory_still_works(put):
    x = put([1, 2])
    where = x.device
    x.delete()
    x.delete()
    assert x.is_deleted() and x.shape == (2,) and x.dtype == np.float32 and x.device == where
    assert "donated" not in str(backends.deleted_error(x))


def test_the_error_has_the_classes_that_uses_raise_in_jax(put):
    x = put([1, 2])
    x.delete()
    for use in (lambda: x.addressable_data(0), x.block_until_ready):
        for kind in (errors.JaxRuntimeError, ValueError):
            with pytest.raises(kind, match=r"f32\[2\] is used at .* after it was deleted"):
                use()


def test_a_view_outlives_its_array(put):
    x = put([1, 2])
    view = np.asarray(x)
    x.delete()
    assert view.tolist() == [1, 2]


def test_check_usable(put):
    x, y = put([1]), put([1, 2])
    y.delete()
    backends.check_usable([x, np.ones(2), "text"])
    with pytest.raises(RuntimeError, match=r"f32\[2\]"):
        backends.check_usable([x, 3, y])
