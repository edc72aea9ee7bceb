"""Programs on what is reduced along an axis of a mesh: its cotangents are sums left to be done."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import P, lax
from dovetail.sharding import AxisType, Mesh, reshard, set_mesh
from dovetail_core import ShardingTypeError, typeof
from dovetail_testing import assert_close

RANDOM = np.random.default_rng(0)
W = RANDOM.integers(-3, 4, (4, 4)).astype(np.float32)
X = RANDOM.integers(-3, 4, (8, 4)).astype(np.float32)
IDS = RANDOM.integers(0, 4, (8, 2)).astype(np.int32)
ROWS = P("x", None)


@pytest.fixture(autouse=True)
def mesh(devices):
    mesh = Mesh(np.array(devices[:4]).reshape(2, 2), ("x", "y"), AxisType.Explicit)
    with set_mesh(mesh):
        yield mesh


def _put(x: Any, *parts: Any, **roles: Any) -> Any:
    return dt.device_put(x, P(*parts, *[None] * (np.ndim(x) - len(parts)), **roles))


def value(x: Any) -> np.ndarray:
    """The value of an array, of which devices may have summands along ``x``."""
    if not x.sharding.spec.unreduced:
        return np.asarray(x)
    parts = {s.device: np.asarray(s.data) for s in x.addressable_shards}
    whole = np.zeros(x.shape, x.dtype)
    for device in x.sharding.mesh.devices[:, 0]:
        whole += parts[device]
    return whole


def _dot(x: Any, w: Any, spec: Any = None) -> Any:
    return dnp.dot(x, w, out_sharding=spec)


def _stashed(w: Any, x: Any, spec: Any) -> Any:
    @dt.custom_vjp
    def f(w: Any, x: Any) -> Any:
        return _dot(x, w, spec)

    def back(kept: Any, ct: Any) -> Any:
        w, x = kept
        left = None if spec is None else P(None, None, unreduced={"x"})
        return _dot(x.T, ct, left), _dot(ct, w.T, spec)

    f.defvjp(lambda w, x: (f(w, x), (w, x)), back)
    return f(w, x).sum()


def _early(w: Any, x: Any, spec: Any) -> Any:
    step = lambda c, _: (_dot(c, w, spec), c)  # noqa: E731
    c, all_c = lax.scan(step, x, None, length=3)
    return (c * c).sum() + all_c.sum()


def _if_positive(w: Any, x: Any, spec: Any) -> Any:
    return lax.cond(w.sum() > -1e9, lambda: _dot(x, w, spec), lambda: x).sum()


PROGRAMS: dict[str, Any] = {
    "dot": lambda w, x, spec: (_dot(x, w, spec) ** 2).sum(),
    "no out_sharding": lambda w, x, spec: ((x @ w) ** 2).sum(),
    "einsum": lambda w, x, spec: (
        dnp.einsum("bi,ji->jb", x, w, out_sharding=spec and P(None, "x")).max(0).sum()
    ),
    "transposed": lambda w, x, spec: (_dot(x, w.T, spec) ** 2).sum(),
    "reshaped": lambda w, x, spec: (_dot(x, w.reshape(4, 2, 2).reshape(4, 4), spec) ** 3).sum(),
    "converted": lambda w, x, spec: (
        _dot(x.astype("bfloat16"), w.astype("bfloat16"), spec).astype("float32").sum()
    ),
    "scaled": lambda w, x, spec: _dot(x, dnp.sin(2 * w), spec).sum(),
    "joined": lambda w, x, spec: _dot(x, dnp.concatenate([w, w], 1), spec).sum(),
    "sum alone": lambda w, x, spec: w.sum() + 0 * x.sum(),
    "elementwise": lambda w, x, spec: dnp.sin(w).sum() + 0 * x.sum(),
    "part": lambda w, x, spec: _dot(x[:, :2], w[1:3], spec).sum(),
    "gather": lambda w, x, spec: (w.at[_ids(spec)].get(out_sharding=spec) ** 2).sum(),
    "gather, filled": lambda w, x, spec: (
        w.at[_ids(spec)].get(mode="fill", fill_value=0, out_sharding=spec).sum()
    ),
    "checkpoint": lambda w, x, spec: dt.checkpoint(lambda w: dnp.sin(_dot(x, w, spec)))(w).sum(),
    "scan": _early,
    "cond": _if_positive,
    "inner jit": lambda w, x, spec: dt.jit(lambda w: _dot(x, w, spec))(w).sum(),
    "custom rule": _stashed,
    "whole otherwise": lambda w, x, spec: _dot(X[:4], w, spec and P()).sum() + 0 * x.sum(),
}


def _ids(spec: Any) -> Any:
    return IDS if spec is None else _put(IDS, "x")


def _gradient(f: Any, spec: Any) -> Any:
    return lambda w, x: dt.grad(lambda w: f(w, x, spec))(w)


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients(name):
    """They are unreduced, and their sum is the gradient: jitted, at rest, mapped, and again."""
    f = PROGRAMS[name]
    wanted, left = _gradient(f, None), _gradient(f, ROWS)
    w, x = _put(W, reduced={"x"}), _put(X, "x")
    for g in (dt.jit(left), left):
        result = g(w, x)
        assert result.sharding.spec == P(None, None, unreduced={"x"})
        assert_close(value(result), dt.jit(wanted)(W, X), scale=100.0)
    ws, xs = np.stack([W, 2 * W, -W]), np.stack([X, X + 1, -X])
    result = dt.jit(dt.vmap(left))(_put(ws, reduced={"x"}), _put(xs, None, "x"))
    assert typeof(result).str_short() == "f32[3,4,4]{U:x}"
    assert_close(value(result), dt.jit(dt.vmap(wanted))(ws, xs), scale=1e4)
    over = dt.jit(dt.vmap(left, (None, 0)))(w, _put(xs, None, "x"))
    assert_close(value(over), dt.jit(dt.vmap(wanted, (None, 0)))(W, xs), scale=1e4)


@pytest.mark.parametrize("name", ["dot", "einsum", "scaled", "gather", "scan", "elementwise"])
def test_second_derivatives(name):
    def twice(g: Any) -> Any:
        return lambda w, x: dt.jvp(lambda w: g(w, x), (w,), (dnp.cos(w),))[1]

    f = PROGRAMS[name]
    wanted, left = twice(_gradient(f, None)), twice(_gradient(f, ROWS))
    result = dt.jit(left)(_put(W, reduced={"x"}), _put(X, "x"))
    assert_close(value(result), dt.jit(wanted)(W, X), scale=1e5)


@pytest.mark.parametrize("name", ["dot", "einsum", "gather"])
def test_no_sum_is_done(name):
    """The compiled program leaves the sum over the axis, as JAX's does."""
    f = dt.jit(_gradient(PROGRAMS[name], ROWS))
    text = f.lower(_put(W, reduced={"x"}), _put(X, "x")).compile().as_text()
    assert "all-reduce" not in text and "all-gather" not in text


LEFT: dict[str, Any] = {
    "carried": lambda g: lax.fori_loop(0, 3, lambda i, c: c + g, g),
    "carried, unknown length": lambda g: lax.fori_loop(0, g.shape[0] + 0 * i32(), _adding(g), g),
    "steps": lambda g: lax.scan(lambda c, r: (c + r, 2 * r), 0 * g[0], g),
    "steps, unrolled": lambda g: lax.scan(lambda c, r: (c + r, 2 * r), 0 * g[0], g, unroll=3),
    "steps, reversed": lambda g: lax.scan(lambda c, r: (c + r, c), 0 * g[0], g, reverse=True),
    "branches": lambda g: lax.cond(i32() == 0, lambda: g, lambda: 2 * g),
    "calls": lambda g: (lambda f: f(f(g)))(dt.jit(lambda g: g + g)),
    "mapped": lambda g: dt.vmap(lambda r: 3 * r, in_axes=1)(g),
    "map": lambda g: lax.map(lambda r: 3 * r, g),
    "running sum": lambda g: dnp.cumsum(g, 0),
    "several": lambda g: (g, g.T * 2, reshard(g, P())),
    "reversed": lambda g: g[::-1].reshape(2, 8),
    "product": lambda g: dnp.dot(g, W),
    "rows": lambda g: g[dnp.asarray([2, 0, 0])],
}


def i32() -> Any:
    return dnp.asarray(0, "int32")


def _adding(g: Any) -> Any:
    return lambda i, c: c + g


@pytest.mark.parametrize("name", LEFT)
def test_sums_that_are_left_through_linear_programs(name):
    left = dt.jit(lambda x: _dot(x.T, x, P(None, None, unreduced={"x"})))(_put(X, "x"))
    result = dt.jit(LEFT[name])(left)
    for a, b in zip(
        dt.tree.leaves(result), dt.tree.leaves(dt.jit(LEFT[name])(X.T @ X)), strict=True
    ):
        assert_close(value(a), b, scale=100.0)


def test_sums_that_are_asked_for():
    x, ids = _put(X, "x"), _put(IDS[:, 0], "x")
    out = P(None, unreduced={"x"})
    assert_close(value(lax.reduce_sum(x, (0,), out_sharding=out)), X.sum(0), scale=30)
    assert_close(value(dt.jit(lambda x: lax.reduce_sum(x, (0,), out_sharding=out))(x)), X.sum(0))
    zeros = dt.jit(lambda: dnp.zeros((4, 4), out_sharding=P(None, None, unreduced={"x"})))()
    assert zeros.sharding.spec.unreduced and not value(zeros).any()
    threes = dt.jit(lambda: dnp.full((4,), 3.0, out_sharding=out))()
    assert_close(value(threes), np.full(4, 3, np.float32))
    sums = dt.ops.segment_sum(x[:, 0], ids, num_segments=4, out_sharding=out)
    assert_close(value(sums), np.bincount(IDS[:, 0], X[:, 0], 4).astype(np.float32), scale=30)
    with pytest.raises(ShardingTypeError, match="no sum over these to be left unreduced"):
        dt.ops.segment_max(x[:, 0], ids, num_segments=4, out_sharding=out)
    whole = dnp.zeros(4)
    with pytest.raises(ShardingTypeError, match="no sum over these to be left unreduced"):
        dt.jit(lambda u: whole.at[ids].add(u, out_sharding=out))(X[:, 0])  # updates are whole
    with pytest.raises(ShardingTypeError, match="no sum over these to be left unreduced"):
        dt.jit(lambda u: whole.at[ids].set(u, out_sharding=out))(x[:, 0])


@pytest.mark.parametrize("name", ["segment_sum", "segment_prod", "segment_max", "segment_min"])
def test_segments(name):
    f = getattr(dt.ops, name)
    for spec in (P(), P("x")):
        result = f(_put(X[:, 0], "x"), _put(IDS[:, 0], "x"), num_segments=4, out_sharding=spec)
        assert result.sharding.spec == spec
        assert_close(result, f(X[:, 0], IDS[:, 0], num_segments=4))


def test_placement():
    """What is put somewhere as a sum is the only summand that is not zero."""
    out = P(None, None, unreduced={"x"})
    for made in (
        dt.device_put(X, out),
        dt.device_put(_put(X, "x"), out),
        dnp.full((8, 4), 2, out_sharding=out),
    ):
        assert made.sharding.spec == out
        whole = dt.device_put(made, P("x"))
        assert whole.sharding.spec == P("x") and np.array_equal(value(made), np.asarray(whole))
    with pytest.raises(ValueError, match=r"result is of type f32\[8@x,4\], which is no sum along"):
        dt.jit(lambda x: x * 2, out_shardings=dt.NamedSharding(dt.sharding.get_mesh(), out))(
            _put(X, "x")
        )


def test_a_chain_leaves_its_first_sum():
    """The sum over the axis is that of one of two products; what follows is linear."""
    f = dt.jit(
        lambda x, y: dnp.einsum(
            "ia,ib,bc->ac", x, y, W, out_sharding=P(None, None, unreduced={"x"})
        )
    )
    assert_close(value(f(_put(X, "x"), _put(X, "x"))), X.T @ X @ W, scale=1e3)
