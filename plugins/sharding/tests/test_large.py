"""Large arrays with a sharding are made in their parts: no device has more than its part."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import NamedSharding, P, lax
from dovetail_xla.arrays import ArrayImpl

SHAPE = 1024, 512
PART = SHAPE[0] // 4 * SHAPE[1] * 4


@pytest.fixture
def largest(monkeypatch):
    """The largest array that operations which are evaluated have made meanwhile, in bytes."""
    made = [0]
    bind = type(lax.broadcast_in_dim_p).bind

    def watched(self, *args, **params):
        out = bind(self, *args, **params)
        if out.__class__ is ArrayImpl:  # not traced
            made[0] = max(made[0], *[s.data.nbytes for s in out.addressable_shards])
        return out

    monkeypatch.setattr(type(lax.broadcast_in_dim_p), "bind", watched)
    return made


def test_filled_arrays(mesh, largest):
    place = NamedSharding(mesh, P("x"))
    x = dnp.zeros(SHAPE, device=place)
    result = {
        "zeros": (x, 0),
        "ones": (dnp.ones(SHAPE, device=place), 1),
        "full": (dnp.full(SHAPE, 2.5, device=place), 2.5),
        "zeros_like": (dnp.zeros_like(x), 0),
        "full_like": (dnp.full_like(x, 3), 3),
        "of lax": (lax.full(SHAPE, np.float32(4), sharding=place), 4),
        "like x": (lax.full_like(x, 5), 5),
    }
    assert largest[0] <= PART
    for name, (a, value) in result.items():
        assert a.sharding == place and not a.weak_type and a._committed, name
        assert all(s.data.shape == (256, 512) for s in a.addressable_shards)
        np.testing.assert_array_equal(a, np.full(SHAPE, value, np.float32))


def test_filled_arrays_of_a_type(explicit, largest):
    with dt.set_mesh(explicit):
        x = dnp.zeros(SHAPE, out_sharding=P("x", "y"))
        assert largest[0] <= PART // 2
        assert (
            dt.typeof(x).str_short()
            == dt.typeof(dnp.zeros_like(x)).str_short()
            == "f32[1024@x,512@y]"
        )
        assert (x.sum(), dnp.full(SHAPE, 2, out_sharding=P("x")).sum()) == (0, 2 * 1024 * 512)


def test_what_is_put_somewhere_is_not_weakly_typed(mesh):
    place = NamedSharding(mesh, P("x"))
    assert not dnp.full((8,), 2.5, device=place).weak_type
    assert not lax.full((8,), 2, sharding=place).weak_type
    assert not dnp.full_like(1.0, 2, shape=(8,), device=place).weak_type
    assert dnp.full((8,), 2.5).weak_type
    with pytest.raises(ValueError, match="4 shards do not divide"):
        dnp.zeros((1023, 1024), device=place)
