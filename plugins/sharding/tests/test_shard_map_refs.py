"""References within ``shard_map``: each device's own, and one for its part of another."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import P, lax, new_ref, shard_map

X = np.linspace(-1, 1, 32, dtype=np.float32).reshape(8, 4)


def _update(r, a):
    r[...] = dnp.sin(r[...]) * a


@pytest.mark.parametrize("wrap", [dt.jit, lambda f: f])
def test_references_to_parts(mesh, wrap):
    r = new_ref(X)
    f = wrap(shard_map(_update, mesh=mesh, in_specs=P("x"), out_specs=None))
    assert f(r, X) is None
    np.testing.assert_allclose(r[...], np.sin(X) * X, rtol=1e-6)

    def total(r, a):
        r[...] = lax.psum(a, "x") + r[...]
        return r[0]

    r = new_ref(np.zeros((2, 4), np.float32))
    g = shard_map(total, mesh=mesh, in_specs=(P(), P("x")), out_specs=P())
    np.testing.assert_allclose(wrap(g)(r, X), X.reshape(4, 2, 4).sum(0)[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(r[...], X.reshape(4, 2, 4).sum(0), rtol=1e-5, atol=1e-6)


def test_derivatives(mesh):
    """A place that differs among devices has cotangents that do."""

    def inner(x, a):
        r = new_ref(x)
        lax.fori_loop(0, 2, lambda i, _: _update(r, a), None)
        return r[...]

    def outer(x):
        r = new_ref(x)
        f = shard_map(_update, mesh=mesh, in_specs=P("x"), out_specs=None)
        f(r, X)
        f(r, X)
        return r[...]

    def whole(x):
        return dnp.sin(dnp.sin(x) * X) * X

    over = shard_map(inner, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    for f in (lambda x: over(x, X), outer):
        np.testing.assert_allclose(dt.jit(f)(X), whole(X), rtol=1e-5)
        slopes = [dt.grad(lambda x, g=g: (g(x) ** 2).sum())(X) for g in (f, whole)]
        np.testing.assert_allclose(*slopes, rtol=1e-4, atol=1e-6)
        rows = np.stack([X, 2 * X])
        np.testing.assert_allclose(dt.vmap(f)(rows)[1], whole(2 * X), rtol=1e-5)


def test_what_varies(mesh):
    def counted(a):
        r = new_ref(lax.pvary(dnp.zeros(4), "x"))
        r[...] = 1  # is cast
        r[0] = a[0, 0]
        r[...] += lax.psum(a, "x").sum()
        return r[...]

    f = shard_map(counted, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    np.testing.assert_allclose(dt.jit(f)(X)[::4], X[::2, 0] + X.sum(), atol=1e-5)
    for write in (
        lambda r, a: r.__setitem__(..., a[0]),
        lambda r, a: dt.ref.addupdate(r, 0, a[0, 0]),
        lambda r, a: r.__setitem__(lax.axis_index("x"), 1.0),
    ):

        def wrong(a, write=write):
            write(new_ref(dnp.zeros(4)), a)

        text = (
            r"may differ along the axis 'x' .* to Ref\{f32\[4\]\}.*new_ref\(lax.pvary\(x, 'x'\)\)"
        )
        with pytest.raises(ValueError, match=text):
            shard_map(wrong, mesh=mesh, in_specs=P("x"), out_specs=None)(X)

        def unchecked(a, write=write):
            r = new_ref(dnp.zeros(4))
            write(r, a)
            return r[...]

        f = shard_map(unchecked, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)
        assert dt.jit(f)(X).shape == (16,)


def test_bad_input(mesh):
    r = new_ref(X)
    f = shard_map(lambda a, b: None, mesh=mesh, in_specs=P("x"), out_specs=None)
    with pytest.raises(ValueError, match=r"is passed as args\[0\] and as args\[1\]"):
        f(r, r)
    with pytest.raises(
        ValueError, match=r"args\[0\] has shape \(8, 4\), and its spec P\(None, \('"
    ):
        shard_map(lambda r: None, mesh=mesh, in_specs=P(None, ("x", "y")), out_specs=None)(r)
    g = shard_map(lambda r: r.__setitem__(..., r[...] * 2), mesh=mesh, in_specs=P(), out_specs=None)
    g(r)
    np.testing.assert_allclose(r[...], 2 * X)
