"""Unreduced and reduced values at the boundary of ``shard_map`` and within it."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import NamedSharding, P, lax, shard_map

X = np.arange(16, dtype=np.float32).reshape(8, 2)
W = np.arange(4, dtype=np.float32).reshape(2, 2) - 1


@pytest.fixture
def put(explicit):
    with dt.set_mesh(explicit):
        yield lambda x, *spec: dt.device_put(x, NamedSharding(explicit, P(*spec)))


def _type(x):
    return dt.typeof(x).str_short()


def test_arguments_that_are_sums(put):
    """Devices have summands, whatever these are: their sum is the value."""
    whole = put(W)
    left = dt.reshard(whole, P(unreduced={"x"}))
    ins = P(unreduced={"x"})
    total = shard_map(lambda w: lax.psum(w, "x"), in_specs=ins, out_specs=P())
    for f in (total, dt.jit(total)):
        np.testing.assert_array_equal(f(left), W)
    halves = shard_map(
        lambda w: lax.psum_scatter(w, "y", tiled=True),
        in_specs=P(unreduced={"y"}), out_specs=P("y"),
    )  # fmt: skip
    y = halves(dt.reshard(whole, P(unreduced={"y"})))
    assert _type(y) == "f32[2@y,2]"
    np.testing.assert_array_equal(y, W)


def test_results_that_are_sums(put):
    x = put(X, "x")
    summands = shard_map(
        lambda x: lax.pcast(x.T @ x, "x", to="unreduced"),
        in_specs=P("x"), out_specs=P(unreduced={"x"}),
    )  # fmt: skip
    y = dt.jit(summands)(x)
    assert _type(y) == _type(summands(x)) == "f32[2,2]{U:x}"
    np.testing.assert_allclose(dt.reshard(y, P()), X.T @ X)
    back = shard_map(lambda w: w, in_specs=P(), out_specs=P(reduced={"x"}))
    assert _type(back(put(W))) == "f32[2,2]{R:x}"
    with pytest.raises(ValueError, match="result does not vary along 'x'"):
        shard_map(lambda w: w, in_specs=P(), out_specs=P(unreduced={"x"}))(put(W))
    with pytest.raises(ValueError, match="result may differ along"):
        shard_map(lambda x: x, in_specs=P("x"), out_specs=P(reduced={"x"}))(x)


def test_gradients(put):
    """Within, each device has its own cotangent of what is reduced; outside it is a sum."""
    x, w = put(X, "x"), dt.reshard(put(W), P(reduced={"x"}))
    wanted = dt.grad(lambda w: dnp.sin(X @ w).sum())(W)
    specs = {"in_specs": (P("x"), P(reduced={"x"}))}
    f = shard_map(lambda x, w: dnp.sin(x @ w).sum()[None], out_specs=P("x"), **specs)
    g = dt.jit(dt.grad(lambda w: f(x, w).sum()))(w)
    assert _type(g) == "f32[2,2]{U:x}"
    np.testing.assert_allclose(dt.reshard(g, P()), wanted, rtol=1e-4, atol=1e-5)

    def local(x, w):
        return lax.psum(dt.grad(lambda w: dnp.sin(x @ w).sum())(w), "x")

    def cast(x, w):
        return local(x, lax.pcast(w, "x", to="reduced"))

    found = shard_map(local, out_specs=P(), **specs)(x, w)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    found = shard_map(cast, in_specs=(P("x"), P()), out_specs=P())(x, put(W))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)

    def gathered(x, w):
        whole = lambda w: lax.all_gather(w, "y", tiled=True, to="reduced")  # noqa: E731
        return dt.grad(lambda w: dnp.sin(x @ whole(w)).sum())(w)

    half = shard_map(gathered, in_specs=(P(("y", "x")), P("y")), out_specs=P("y"))
    found = half(put(X, ("y", "x")), put(W, "y"))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_roles_are_along_explicit_axes(mesh):
    for ins, outs in ((P(unreduced={"x"}), P()), (P(), P(reduced={"x"}))):
        with pytest.raises(ValueError, match="along axes of type Explicit"):
            shard_map(lambda x: x, mesh=mesh, in_specs=ins, out_specs=outs)(W)


def test_structures_of_results(mesh):
    pair = {"mesh": mesh, "in_specs": P("x"), "out_specs": [P("x"), P("x")]}
    with pytest.raises(ValueError, match="out_specs is no tree prefix"):
        shard_map(lambda x: (x, x), **pair)(X)
    assert len(shard_map(lambda x: [x, x], **pair)(X)) == 2
    pmapped = dt.pmap(lambda x: x, out_axes=3, devices=list(mesh.devices.flat))
    with pytest.raises(ValueError, match="out_axes is 3 for a result"):
        pmapped(X)
