"""Placement under transformations."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail_ad import grad, jvp, vjp
from dovetail_backends import Array, device_put, evaluate, value_of
from dovetail_backends.reference import REFERENCE
from dovetail_batching import vmap
from dovetail_core import ShapedArray, stage_closed
from dovetail_jit import jit, make_jaxpr

F32 = np.dtype(np.float32)


def test_staged(devices):
    jaxpr = make_jaxpr(lambda x: device_put([x, 2.0], devices[1]))(1.0)
    assert [e.primitive.name for e in jaxpr.eqns] == ["device_put"] * 2
    assert jaxpr.eqns[0].params["device"] == devices[1]


def test_jit(put):
    x = put([1, 2])
    here = x.device
    assert jit(lambda x: device_put({"a": x}, here))(x)["a"].tolist() == [1, 2]


def test_jvp(put, devices):
    y, dy = jvp(lambda x: device_put(x, devices[1]), (put([1, 2]),), (put([3, 4]),))
    assert y.device == dy.device == devices[1]
    assert y.tolist() == [1, 2] and dy.tolist() == [3, 4]


def test_cotangents_go_back(put, devices):
    x = device_put(put([1, 2]), devices[0])
    y, back = vjp(lambda x: device_put(x, devices[1]), x)
    (ct,) = back(device_put(put([3, 4]), devices[1]))
    assert y.device == devices[1] and ct.device == devices[0] and ct.tolist() == [3, 4]
    (ct,) = vjp(lambda x: device_put(x, devices[1], src=devices[2]), x)[1](y)
    assert ct.device == devices[2]


def test_donation_does_not_reach_tangents(put, devices):
    x, dx = device_put((put([1]), put([2])), devices[0])
    y, dy = jvp(lambda x: device_put(x, devices[1], donate=True), (x,), (dx,))
    assert x.is_deleted() and dx.tolist() == dy.tolist() == [2] and y.tolist() == [1]


def test_grad():
    assert grad(lambda x: device_put({"a": x})["a"])(2.0).item() == 1.0


def test_vmap(put, devices):
    y = vmap(lambda x: device_put(x, devices[1]))(put([1, 2]))
    assert y.device == devices[1] and y.tolist() == [1, 2]


def test_reference(devices):
    closed = stage_closed(lambda x: [device_put(x, devices[0])], [ShapedArray((2,), F32)])
    assert evaluate(closed, np.ones(2))[0].tolist() == [1, 1]


def test_jit_on_the_reference_backend(put):
    result = jit(lambda x: device_put(x), backend=REFERENCE.platform)(put([1, 2]))
    assert isinstance(result, Array) and value_of(result).tolist() == [1, 2]


def test_another_platform_inside_a_compiled_function(put, monkeypatch):
    from dovetail_backends.rules import stablehlo

    class Sharding:
        class Device:
            class client:
                platform = "cuda"

            def __str__(self):
                return "gpu:0"

        _internal_device_list = (Device(),)

    monkeypatch.setattr(stablehlo, "sharding_for", lambda device: Sharding())
    text = (
        "device_put to gpu:0 inside a function that is compiled for cpu: .* Move the value before"
    )
    with pytest.raises(ValueError, match=text):
        jit(lambda x: device_put(x))(put([1, 2, 3]))
