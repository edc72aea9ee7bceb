"""Specs of ``shard_map`` and ``pmap`` that do not fit, and those that name axes of two kinds."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail as dt
from dovetail import NamedSharding, P, shard_map

X = np.arange(16, dtype=np.float32).reshape(8, 2)


def test_structures_of_results(mesh):
    pair = {"mesh": mesh, "in_specs": P("x"), "out_specs": [P("x"), P("x")]}
    with pytest.raises(ValueError, match="out_specs is no tree prefix"):
        shard_map(lambda x: (x, x), **pair)(X)
    assert len(shard_map(lambda x: [x, x], **pair)(X)) == 2
    pmapped = dt.pmap(lambda x: x, out_axes=3, devices=list(mesh.devices.flat))
    with pytest.raises(ValueError, match="out_axes is 3 for a result"):
        pmapped(X)


def test_types_tell_of_explicit_axes_alone(devices):
    """Specs may name axes of type Auto of arguments whose types tell of others."""
    types = (dt.sharding.AxisType.Explicit, dt.sharding.AxisType.Auto)
    mesh = dt.sharding.Mesh(np.array(devices).reshape(4, 2), ("x", "y"), axis_types=types)
    with dt.set_mesh(mesh):
        x = dt.device_put(X, NamedSharding(mesh, P("x", "y")))
        both, one = P("x", "y"), P(None, "y")
        f = shard_map(lambda a: 2 * a, in_specs=both, out_specs=both)
        g = shard_map(lambda a: 2 * a, in_specs=one, out_specs=one, axis_names={"y"})
        for h in (f, g, dt.jit(f), dt.jit(g)):
            assert dt.typeof(h(x)).str_short() == "f32[8@x,2]"
            np.testing.assert_array_equal(h(x), 2 * X)
        with pytest.raises(ValueError, match="Reshard it"):
            shard_map(lambda a: a, in_specs=P(None, "y"), out_specs=P())(x)
