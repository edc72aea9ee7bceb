"""Cotangents of what was broadcast are summed over devices when they are small."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import P
from dovetail.sharding import AxisType, Mesh, NamedSharding

W = np.linspace(-1, 1, 4).astype(np.float32)
X = np.arange(64, dtype=np.float32).reshape(8, 2, 4) / 64


def once(w, x):
    return dnp.sum(dnp.sin(x) * (1 + w) + w)


def twice(w, x):
    """The broadcast value meets what varies, what does not, and what varies again."""
    wide = dt.lax.broadcast_in_dim(w, (1, 2, 4), (2,))
    parts = dnp.sum(wide * dnp.cos(x[:1])) * 2 + dnp.sum(wide * wide)
    return parts + dnp.sum(wide * dnp.sin(x[:1]))


@pytest.fixture(params=[1, 2])
def mesh(request, devices):
    return Mesh(np.array(devices[: request.param]), ("i",))


@pytest.mark.parametrize("f", [once, twice])
def test_gradients_under_shard_map_are_those_of_the_parts_together(f, mesh):
    def mapped(w, x):
        part = dt.shard_map(
            lambda w, x: dt.lax.psum(f(w, x), "i"),
            mesh=mesh, in_specs=(P(), P("i")), out_specs=P(),
        )  # fmt: skip
        return part(w, x)

    wanted = sum(np.asarray(dt.grad(f)(W, x)) for x in np.split(X, mesh.size))
    np.testing.assert_allclose(dt.grad(mapped)(W, X), wanted, rtol=1e-5)
    np.testing.assert_allclose(dt.jit(dt.grad(mapped))(W, X), wanted, rtol=1e-5)


def test_under_shard_map_the_smaller_cotangent_is_exchanged(mesh):
    def local(w, x):
        return dt.grad(once)(w, x)

    f = dt.shard_map(local, mesh=mesh, in_specs=(P(), P("i")), out_specs=P())
    text = str(dt.make_jaxpr(f)(W, X))
    assert re.findall(r":(\S+) = psum", text) == ["f32[4]"] * 2, text


def test_along_explicit_axes_nothing_is_gathered(devices):
    explicit = Mesh(np.array(devices[:2]), ("i",), (AxisType.Explicit,))
    x = dt.device_put(X, NamedSharding(explicit, P("i")))
    w = dt.device_put(W, NamedSharding(explicit, P()))
    for f in (once, lambda w, x: dnp.sum(w[:, None] * dnp.sum(x, 1).T)):
        g = dt.jit(dt.grad(f))
        np.testing.assert_allclose(g(w, x), dt.grad(f)(W, X), rtol=1e-5)
        assert g(w, x).sharding.is_equivalent_to(w.sharding, 1)
        assert "all-gather" not in g.lower(w, x).compile().as_text()
