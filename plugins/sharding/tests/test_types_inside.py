"""Shardings in types under transformations, in control flow, with ``out_sharding``; error texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import P, lax
from dovetail.sharding import AxisType, NamedSharding, auto_axes, explicit_axes, set_mesh
from dovetail_core import ShardingTypeError, typeof

R = np.random.RandomState(0)
X = R.randn(8, 4).astype(np.float32)
W = R.randn(4, 4).astype(np.float32)


@pytest.fixture(autouse=True)
def around(explicit) -> Any:
    with set_mesh(explicit):
        yield


def _put(value: Any, *spec: Any) -> Any:
    return dt.reshard(dnp.asarray(value), P(*spec))


def _type(x: Any) -> str:
    return typeof(x).str_short()


def _same(f: Any, *args: Any) -> Any:
    """``f`` eagerly, traced, and on undivided arrays."""
    out, traced = f(*args), dt.jit(f)(*args)
    for a, b in zip(dt.tree.leaves(out), dt.tree.leaves(traced), strict=True):
        assert _type(a) == _type(b)
        if a.sharding.spec.unreduced:
            a, b = (dt.reshard(x, a.sharding.spec.update(unreduced=set())) for x in (a, b))
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    return out


def _gradients(f: Any, *args: Any) -> tuple[Any, ...]:
    def whole(*xs: Any) -> Any:
        return dt.grad(lambda *a: dnp.sum(dnp.sin(f(*a))), argnums=tuple(range(len(xs))))(*xs)

    result = _same(whole, *args)
    with set_mesh(None):
        plain = whole(*[np.asarray(a) for a in args])
    for a, b, x in zip(result, plain, args, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
        assert typeof(a).divided is typeof(x).divided
    return result


GRADIENTS: dict[str, tuple[Any, Any]] = {
    "matmul": (lambda a, w: a @ w, lambda: (_put(X, "x"), _put(W, None, "y"))),
    "matmul out": (
        lambda a, w: dnp.sin(a) @ w * 2,
        lambda: (_put(X, ("x", "y")), _put(W)),
    ),
    "reshape": (lambda a: a.reshape(4, 2, 4), lambda: (_put(X, "x"),)),
    "merge": (lambda a: a.reshape(32), lambda: (_put(X, "x", "y"),)),
    "softmax": (lambda a: dt.nn.softmax(a, 0), lambda: (_put(X, "x"),)),
    "mean": (lambda a: a.mean(0), lambda: (_put(X, "x"),)),
    "max": (lambda a: a.max(0), lambda: (_put(X, "x"),)),
    "columns": (lambda a: a[:, dnp.array([0, 2, 2])], lambda: (_put(X, "x"),)),
    "slice": (lambda a: a[:, 1:3], lambda: (_put(X, "x"),)),
    "set": (lambda a: a.at[:, 0].set(1.0), lambda: (_put(X, "x"),)),
    "sort": (lambda a: dnp.sort(a, 1), lambda: (_put(X, "x"),)),
    "pad": (lambda a: dnp.pad(a, ((0, 0), (1, 2))), lambda: (_put(X, "x"),)),
    "concatenate": (lambda a: dnp.concatenate([a, a * 2]), lambda: (_put(X, "x"),)),
    "broadcast": (lambda a: a[:, :1] * dnp.ones((8, 4)), lambda: (_put(X, "x"),)),
    "remat": (dt.checkpoint(lambda a, w: dnp.sin(a @ w)), lambda: (_put(X, "x"), _put(W))),
    "nested jit": (dt.jit(lambda a, w: a @ w), lambda: (_put(X, "x"), _put(W, None, "y"))),
    "cond": (
        lambda a: lax.cond(a.sum() > 0, lambda v: v * 2, lambda v: dnp.sin(v), a),
        lambda: (_put(X, "x"),),
    ),
    "loop": (
        lambda a: lax.fori_loop(0, 3, lambda i, c: dnp.tanh(c), a),
        lambda: (_put(X, "x"),),
    ),
    "scan": (
        lambda c, xs: lax.scan(lambda c, a: (c * a, c + a), c, xs)[1],
        lambda: (_put(W[0], "y"), _put(X, None, "y")),
    ),
    "scan of products": (
        lambda c, w: lax.scan(lambda c, _: (dnp.tanh(c @ w), c.sum(1)), c, None, length=3)[1],
        lambda: (_put(X, "x"), _put(W)),
    ),
    "vmap": (lambda w, a: dt.vmap(lambda r: r @ w)(a), lambda: (_put(W), _put(X, "x"))),
    "solve": (
        dnp.linalg.solve,
        lambda: (_put(np.eye(3) + R.rand(4, 3, 3) / 9, "x"), _put(R.rand(4, 3, 2), "x")),
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    f, args = GRADIENTS[name]
    _gradients(f, *[a.astype("float32") for a in args()])


def test_higher_derivatives():
    x, w = _put(X, "x"), _put(W, None, "y")
    twice = _same(dt.grad(lambda w: dnp.sum(dt.grad(lambda w: dnp.sum(dnp.sin(x @ w)))(w) ** 2)), w)
    assert _type(twice) == "f32[4,4@y]"
    out, tangent = dt.jvp(lambda a: dnp.sin(a) @ w, (x,), (dnp.ones((8, 4)),))
    assert _type(out) == _type(tangent) == "f32[8@x,4@y]"
    assert _type(dt.jacfwd(lambda a: dnp.sin(a).sum(1))(x)) == "f32[8@x,8,4]"
    assert _type(dt.linearize(dnp.sin, x)[1](x)) == "f32[8@x,4]"
    assert _type(dt.linear_transpose(lambda a: a @ w, x)(x @ w)[0]) == "f32[8@x,4]"


def test_custom_rules():
    @dt.custom_vjp
    def f(a):
        return dnp.sin(a)

    f.defvjp(lambda a: (dnp.sin(a), a), lambda a, g: (g * dnp.cos(a),))
    _gradients(f, _put(X, "x"))

    @dt.custom_jvp
    def g(a):
        return dnp.sin(a)

    g.defjvp(lambda p, t: (dnp.sin(p[0]), dnp.cos(p[0]) * t[0]))
    _gradients(g, _put(X, "x"))


MAPPED: dict[str, tuple[Any, Any, str]] = {
    "elementwise": (lambda r: r * 2, lambda: (_put(X, "x"),), "f32[8@x,4]"),
    "constant": (lambda r: dnp.ones(3), lambda: (_put(X, "x"),), "f32[8@x,3]"),
    "product": (lambda r: r @ W, lambda: (_put(X, "x"),), "f32[8@x,4]"),
    "index": (lambda r, i: r[i], lambda: (_put(X, "x"), _put(np.arange(8) % 4, "x")), "f32[8@x]"),
    "update": (
        lambda r, i: r.at[i].set(1.0),
        lambda: (_put(X, "x"), _put(np.arange(8) % 4, "x")),
        "f32[8@x,4]",
    ),
    "loop": (
        lambda r: lax.fori_loop(0, 3, lambda i, c: dnp.sin(c), r),
        lambda: (_put(X, "x"),),
        "f32[8@x,4]",
    ),
    "scan": (
        lambda r: lax.scan(lambda c, a: (c + a, c), 0.0, r)[1],
        lambda: (_put(X, "x"),),
        "f32[8@x,4]~",
    ),
    "cond": (
        lambda r: lax.cond(r[0] > 0, lambda v: v * 2, lambda v: v, r),
        lambda: (_put(X, "x"),),
        "f32[8@x,4]",
    ),
    "gradient": (
        lambda r: dt.grad(lambda a: dnp.sum(dnp.sin(a)))(r),
        lambda: (_put(X, "x"),),
        "f32[8@x,4]",
    ),
    "nested": (lambda r: dt.vmap(lambda a: a * 2)(r), lambda: (_put(X, "x", "y"),), "f32[8@x,4@y]"),
    "reshape": (lambda r: r.reshape(2, 2), lambda: (_put(X, "x"),), "f32[8@x,2,2]"),
}


@pytest.mark.parametrize("name", MAPPED)
def test_vmap(name):
    f, args, wanted = MAPPED[name]
    given = args()
    out = _same(dt.vmap(f), *given)
    assert _type(out) == wanted
    with set_mesh(None):
        plain = dt.vmap(f)(*[np.asarray(a) for a in given])
    np.testing.assert_allclose(out, plain, rtol=1e-5, atol=1e-6)


def test_vmap_places_and_errors():
    x, z = _put(X, "x"), _put(X, "y")
    assert _type(dt.vmap(lambda r: r * 2, in_axes=1)(x)) == "f32[4,8@x]"
    assert _type(dt.vmap(lambda r: r * 2, out_axes=1)(x)) == "f32[4,8@x]"
    assert _type(dt.vmap(lambda r: r * 2, spmd_axis_name="x")(x)) == "f32[8@x,4]"
    with pytest.raises(ValueError, match=r"divided along the same axes .* 'x' in f32\[8@x,4\]"):
        dt.vmap(lambda a, b: a + b)(x, z)
    with pytest.raises(ValueError, match="divided along the same axes"):
        dt.vmap(lambda a, b: a + b)(x, dnp.ones((8, 4)))
    with pytest.raises(ValueError, match=r"spmd_axis_name is \('y',\), and the mapped axes are"):
        dt.vmap(lambda a: a, spmd_axis_name="y")(x)


def test_control_flow_errors():
    x, y = _put(X, "x"), _put(X, None, "y")
    with pytest.raises(ValueError, match=r"scan.*must be whole, and that of f32\[8@x,4\] is div"):
        lax.scan(lambda c, a: (c, a), 0.0, x)
    with pytest.raises(TypeError, match=r"f32\[8@x,4\].*f32\[8,4@y\]"):
        lax.scan(lambda c, _: (dt.reshard(c, P(None, "y")), None), x, None, length=2)
    with pytest.raises(TypeError, match=r"f32\[8@x,4\].*f32\[8,4@y\]"):
        lax.cond(True, lambda: y, lambda: x)
    with pytest.raises(TypeError, match=r"f32\[8@x,4\].*f32\[8@y,4\]"):
        lax.while_loop(lambda c: c.sum() < 0, lambda c: dt.reshard(c, P("y")), x)


OUT: dict[str, tuple[Any, str]] = {
    "matmul": (lambda x: dnp.matmul(x.T, x, out_sharding=P("y")), "f32[4@y,4]"),
    "dot_general": (
        lambda x: lax.dot_general(x, x, (((0,), (0,)), ((), ())), out_sharding=P(None, "y")),
        "f32[4,4@y]",
    ),
    "einsum": (lambda x: dnp.einsum("ab,ac->bc", x, x, out_sharding=P("x")), "f32[4@x,4]"),
    "tensordot": (lambda x: dnp.tensordot(x, x, (0, 0), out_sharding=P("x")), "f32[4@x,4]"),
    "dot": (lambda x: dnp.dot(x.T, x, out_sharding=P("x")), "f32[4@x,4]"),
    "reshape": (lambda x: dnp.reshape(x, (2, 16), out_sharding=P("y")), "f32[2@y,16]"),
    "lax reshape": (lambda x: lax.reshape(x, (16, 2), out_sharding=P("x")), "f32[16@x,2]"),
    "ravel": (lambda x: dnp.ravel(x, out_sharding=P("y")), "f32[32@y]"),
    "broadcast": (
        lambda x: dnp.broadcast_to(x, (4, 8, 4), out_sharding=P("y", "x")),
        "f32[4@y,8@x,4]",
    ),
    "repeat": (lambda x: dnp.repeat(x, 2, axis=0, out_sharding=P("x")), "f32[16@x,4]"),
    "get": (
        lambda x: x.at[dnp.array([0, 2, 2, 1])].get(out_sharding=P("x")),
        "f32[4@x,4]",
    ),
    "set": (lambda x: x.at[dnp.array([0, 1])].mul(2.0, out_sharding=P("x")), "f32[8@x,4]"),
    "bits": (
        lambda x: lax.rng_bit_generator(np.zeros(4, "uint32"), (8,), out_sharding=P("x"))[1],
        "u32[8@x]",
    ),
    "zeros": (lambda x: dnp.zeros((8,), out_sharding=P("x")), "f32[8@x]"),
    "full": (lambda x: dnp.full((8,), 1.0, "float32", out_sharding=P("y")), "f32[8@y]"),
    "arange": (lambda x: dnp.arange(8, out_sharding=P("x")), "i32[8@x]"),
    "ones_like": (lambda x: dnp.ones_like(x, out_sharding=P("y")), "f32[8@y,4]"),
    "iota": (
        lambda x: lax.broadcasted_iota("int32", (8, 8), 0, out_sharding=P("x")),
        "i32[8@x,8]",
    ),
    "normal": (
        lambda x: dt.random.normal(dt.random.key(0), (8,), out_sharding=P("x")),
        "f32[8@x]",
    ),
    "gamma": (
        lambda x: dt.random.gamma(dt.random.key(0), 2.0, (8,), out_sharding=P("x")),
        "f32[8@x]",
    ),
    "randint": (
        lambda x: dt.random.randint(dt.random.key(0), (8,), 0, 9, out_sharding=P("y")),
        "i32[8@y]",
    ),
    "initializer": (
        lambda x: dt.nn.initializers.normal()(dt.random.key(0), (8, 4), out_sharding=P("x")),
        "f32[8@x,4]",
    ),
}


@pytest.mark.parametrize("name", OUT)
def test_out_sharding(name):
    f, wanted = OUT[name]
    out = _same(f, _put(X, "x"))
    assert _type(out) == wanted
    assert out.sharding.is_equivalent_to(
        NamedSharding(out.sharding.mesh, P(*typeof(out).divided.spec)), out.ndim
    )


def test_out_sharding_is_differentiated():
    x = _put(X, "x")
    for name in ("matmul", "einsum", "reshape", "get", "set", "broadcast"):
        f = OUT[name][0]
        result = _same(dt.grad(lambda a, f=f: dnp.sum(dnp.sin(f(a)))), x)
        assert _type(result) == "f32[8@x,4]"
        plain = dt.grad(lambda a, f=f: dnp.sum(dnp.sin(f(a))))(dnp.asarray(X))
        np.testing.assert_allclose(result, plain, rtol=1e-4, atol=1e-5)


def test_unreduced():
    x, w = _put(X, "x"), _put(W)
    left = _same(lambda x: dnp.matmul(x.T, x, out_sharding=P(unreduced={"x"})), x)
    assert _type(left) == "f32[4,4]{U:x}"
    total = _same(
        lambda x: dt.reshard(
            dnp.matmul(x.T, x, out_sharding=P(unreduced={"x"})).T * 2, P("y")
        ), x
    )  # fmt: skip
    assert _type(total) == "f32[4@y,4]"
    np.testing.assert_allclose(total, 2 * X.T @ X, rtol=1e-5)
    np.testing.assert_allclose(dt.reshard(left + left, P()), 2 * X.T @ X, rtol=1e-5)
    reduced = dt.reshard(w, P(reduced={"x"}))
    assert _type(reduced) == "f32[4,4]{R:x}"
    ct = dt.grad(lambda w: dnp.sum(dnp.sin(x @ w)))(reduced)
    assert _type(ct) == "f32[4,4]{U:x}"
    plain = dt.grad(lambda w: dnp.sum(dnp.sin(X @ w)))(W)
    np.testing.assert_allclose(dt.reshard(ct, P()), plain, rtol=1e-4, atol=1e-5)
    for f in (dnp.sin, lambda u: u * u, lambda u: u + 1.0):
        with pytest.raises(ShardingTypeError, match="sums that are left to be done along"):
            f(left)
    with pytest.raises(ShardingTypeError, match="no sum over these to be left unreduced"):
        dnp.matmul(x.T, dnp.ones((8, 4)), out_sharding=P(unreduced={"x"}))


def test_summands_of_what_is_whole_or_divided(explicit):
    """One device along the axis has the value, or each its part, and the others have zeros."""
    whole, x = _put(W), _put(X, "x")
    for a, spec, text in (
        (whole, P(unreduced={"x"}), "f32[4,4]{U:x}"),
        (x, P("x", unreduced={"y"}), "f32[8@x,4]{U:y}"),
        (x, P(None, None, unreduced={"x"}), "f32[8,4]{U:x}"),
    ):
        for f in (dt.reshard, dt.jit(dt.reshard, static_argnums=1)):
            left = f(a, spec)
            assert _type(left) == text
            np.testing.assert_array_equal(dt.reshard(left, P()), a)
    g = dt.grad(lambda a: dt.reshard(a, P("x", unreduced={"y"})).sum())(x)
    assert _type(g) == "f32[8@x,4]"
    left = dt.reshard(whole, P(unreduced={"x"}))
    assert _type(left.astype(dnp.float16)) == "f16[4,4]{U:x}"
    assert _type(dt.vmap(lambda a: dt.reshard(a, P(unreduced={"x"})))(whole)) == "f32[4,4]{U:x}"
    with pytest.raises(ValueError, match="instead of that along"):
        dt.reshard(left, P(unreduced={"y"}))


def test_summands_are_not_the_value(explicit):
    x = _put(X, "x")
    left = dnp.matmul(x.T, x, out_sharding=P(unreduced={"x"}))
    assert not left.is_fully_replicated and "<summands>" in repr(left)
    assert left[0, 0].sharding.spec.unreduced == {"x"}
    same = dt.device_put(left, left.sharding)
    np.testing.assert_allclose(dt.reshard(same, P()), X.T @ X, rtol=1e-5)
    place = NamedSharding(explicit, P(None, None, unreduced={"x"}))
    whole = NamedSharding(explicit, P())
    for read in (
        np.asarray,
        dt.device_get,
        lambda u: u.tolist(),
    ):
        with pytest.raises(NotImplementedError, match=r"unreduced along \['x'\] is read"):
            read(left)
    np.testing.assert_allclose(dt.device_put(left, whole), X.T @ X, rtol=1e-5)
    put = lambda a: dt.device_put(a, place)  # noqa: E731
    for made in (put(X), put(_put(X)), dt.jit(put)(_put(X))):
        assert made.sharding.spec.unreduced == {"x"}
        np.testing.assert_array_equal(dt.device_put(made, whole), X)


def test_like_others(explicit, devices):
    x = _put(X, "x", "y")
    plain = dt.device_put(
        X, NamedSharding(explicit.update(axis_types=(AxisType.Auto,) * 2), P("y"))
    )
    one = dt.device_put(X, devices[3])
    likes = (dnp.zeros_like, dnp.ones_like, dnp.empty_like, lambda a: dnp.full_like(a, 3.0))
    with set_mesh(None):
        for a in (x, plain, one):
            for f in likes:
                assert f(a).sharding == a.sharding and f(a).committed
            assert dnp.zeros_like(a, dtype=np.int32).sharding == a.sharding
            assert dnp.zeros_like(a, shape=(8, 4)).sharding == a.sharding
            assert not dnp.zeros_like(a, shape=(4, 4)).committed
            assert lax.full_like(a, 2).sharding == a.sharding
            told = dt.ShapeDtypeStruct((8, 4), np.float32, sharding=a.sharding)
            assert dnp.zeros_like(told).sharding == a.sharding
            within = dt.jit(lambda a=a: dnp.zeros_like(a))()
            assert typeof(within).divided is typeof(a).divided
        assert not dnp.zeros_like(X).committed and not dnp.zeros_like(dnp.asarray(X)).committed
    assert _type(dt.jit(dnp.zeros_like)(x)) == "f32[8@x,4@y]"


@pytest.mark.parametrize(
    "make",
    [
        lambda **k: dnp.zeros(8, **k), lambda **k: dnp.full((8,), X[:, 0], **k),
        lambda **k: dnp.arange(8, **k), lambda **k: dnp.array(X, **k),
        lambda **k: dnp.asarray(X, **k), lambda **k: dnp.ones_like(X, **k),
        lambda **k: dnp.full_like(X, 2, **k),
    ],
)  # fmt: skip
def test_arrays_are_put_in_one_place_and_divided_along_a_mesh(make, devices):
    assert make(out_sharding=P("x")).sharding.spec[0] == "x"
    with pytest.raises(ValueError, match="device and out_sharding are both given"):
        make(device=devices[0], out_sharding=P())
    for given in (devices[0], 3):
        with pytest.raises(TypeError, match="must be a NamedSharding or a PartitionSpec, got"):
            make(out_sharding=given)


def test_auto_axes():
    x, seen = _put(X, "x"), []

    @auto_axes(out_sharding=P("y"))
    def gram(a):
        seen.append((_type(a), typeof(a).sharding.mesh.axis_types[0]))
        return a.T @ a

    out = _same(gram, x)
    assert _type(out) == "f32[4@y,4]" and seen[0] == ("f32[8,4]", AxisType.Auto)
    np.testing.assert_allclose(out, X.T @ X, rtol=1e-5)
    assert _type(auto_axes(lambda a: a.T @ a)(x, out_sharding=P("x"))) == "f32[4@x,4]"
    kept = auto_axes(lambda a: seen.append(_type(a)) or a, axes="y", out_sharding=P("x", "y"))
    assert _type(kept(_put(X, "x", "y"))) == "f32[8@x,4@y]" and seen[-1] == "f32[8@x,4]"
    of_gram = dt.grad(lambda a: dnp.sum(dnp.sin(gram(a))))
    assert _type(_same(of_gram, x)) == "f32[8@x,4]"
    with pytest.raises(TypeError, match="out_sharding is not given"):
        auto_axes(lambda a: a)(x)
    with pytest.raises(ValueError, match="axes names 'z', and the mesh has the axes"):
        auto_axes(lambda a: a, axes="z", out_sharding=P())(x)
    with pytest.raises(ValueError, match="out_sharding must be a tree prefix"):
        auto_axes(lambda a: (a, a), out_sharding=(P(),))(x)
    with set_mesh(None), pytest.raises(ValueError, match="no mesh is set"):
        auto_axes(lambda a: a, out_sharding=P())(X)


def test_explicit_axes(mesh):
    seen = []

    @explicit_axes(in_sharding=P("x"))
    def twice(a):
        seen.append(_type(a))
        return a * 2

    with set_mesh(mesh):
        for f in (twice, dt.jit(twice)):
            out = f(dnp.asarray(X))
            assert _type(out) == "f32[8,4]" and seen.pop() == "f32[8@x,4]"
            np.testing.assert_allclose(out, X * 2)
        with pytest.raises(TypeError, match="in_sharding is not given"):
            explicit_axes(lambda a: a)(X)


def test_shard_map():
    x = _put(X, "x")
    total = dt.jit(lambda a: dt.shard_map(lambda v: lax.psum(v, "x"), out_specs=P())(a))(x)
    assert _type(total) == "f32[2,4]"
    out = dt.shard_map(lambda v: v * 2, in_specs=P("x"), out_specs=P("x"))(x)
    assert _type(out) == "f32[8@x,4]"
    inner = []

    def partly(v):
        inner.append(_type(v))
        return dnp.sin(v)

    both = dt.shard_map(partly, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
    assert _type(both(_put(X, "x", "y"))) == "f32[8@x,4@y]" and inner[0] == "f32[2,4@y]{V:x}"
    with pytest.raises(ValueError, match=r"args\[0\] is of type f32\[8@x,4\], and its spec"):
        dt.shard_map(lambda v: v, in_specs=P("y"), out_specs=P("y"))(x)


def test_bad_input(explicit):
    x = _put(X, "x")
    with pytest.raises(ValueError, match="names the axis 'z', and the mesh has the axes"):
        dt.reshard(x, P("z"))
    with pytest.raises(ValueError, match="names the axis 'x' twice"):
        dt.reshard(x, P("x", "x"))
    with pytest.raises(ValueError, match=r"dimension 0 of shape \(3,\) has size 3"):
        dt.reshard(dnp.ones(3), P("x"))
    with pytest.raises(ValueError, match="is for arrays of at least 3 dimensions"):
        dt.reshard(x, P("x", None, "y"))
    with pytest.raises(AssertionError, match=r"asserts how a value is divided: use .*reshard"):
        lax.with_sharding_constraint(x, P("y"))
    assert lax.with_sharding_constraint(x, P("x")) is not None
    other = explicit.update(devices=explicit.devices.reshape(2, 4))
    moved = dt.device_put(X, NamedSharding(other, P("x")))
    with pytest.raises(ShardingTypeError, match="divided along axes of different meshes"):
        dt.jit(lambda a, b: a + b)(x, moved)
    with set_mesh(None), pytest.raises(ValueError, match="no mesh is set"):
        dnp.zeros(8, out_sharding=P("x"))


def test_out_shardings_of_jit():
    x = _put(X, "x")
    assert _type(dt.jit(lambda a: a * 2, out_shardings=P("y"))(x)) == "f32[8@y,4]"
    nested = dt.jit(lambda a: dt.jit(lambda b: b * 2, out_shardings=P("y"))(a) + 1)
    assert _type(nested(x)) == "f32[8@y,4]"
    with pytest.raises(ValueError, match="in_shardings says"):
        dt.jit(lambda a: a, in_shardings=P("y"))(x)


def test_programs_without_such_axes_have_the_types_that_they_had(mesh):
    with set_mesh(mesh):
        a = dt.device_put(X, P("x"))
        program = dt.make_jaxpr(lambda a: (a @ W).sum(0))(a)
    assert all(v.aval.divided is None for e in program.eqns for v in e.outvars)
    assert "reshard" not in str(program)


@pytest.mark.parametrize(
    "index", [..., 0, slice(2, 6), (slice(None), 1), np.array([0, 3])], ids=str
)
def test_references_along_divided_dimensions(explicit, index):
    """What is written stays divided as it was; of what is read the compiler says it."""
    host = np.arange(10, 42, dtype=np.float32).reshape(8, 4)
    x = dt.device_put(host, NamedSharding(explicit, P("x")))

    def f(x):
        ref = dt.new_ref(x)
        ref[index] = ref[index] * 0 + 2.0
        ref[index] += 1.0
        return ref[index].sum(), dt.freeze(ref)

    wanted = host.copy()
    wanted[index] = 3.0
    total, result = dt.jit(f)(x)
    assert total == wanted[index].sum() and _type(result) == "f32[8@x,4]"
    np.testing.assert_array_equal(result, wanted)
    ref = dt.new_ref(x)
    dt.jit(lambda r: r.__setitem__(index, r[index] * 0 + 3.0))(ref)
    np.testing.assert_array_equal(ref[...], wanted)
    assert ref[...].sharding.is_equivalent_to(x.sharding, 2)
    np.testing.assert_array_equal(dt.grad(lambda x: f(x)[1].sum())(x), wanted != 3.0)


def _write(ref: Any, value: Any) -> None:
    ref[...] = value


def _write_in_part(ref: Any, value: Any) -> None:
    ref[2:6] = value[2:6]
    ref[:, 1] = value[:, 1]


def _accumulate(ref: Any, value: Any) -> None:
    dt.ref.addupdate(ref, ..., value)


def _write_in_loop(ref: Any, value: Any) -> None:
    dt.lax.fori_loop(0, 2, lambda i, c: (_write(ref, value * 1.0), c)[1], 0)


def _write_in_branch(ref: Any, value: Any) -> None:
    dt.lax.cond(value.sum() > 0, lambda: _write(ref, value), lambda: None)


@pytest.mark.parametrize(
    "change", [_write, _write_in_part, _accumulate, _write_in_loop, _write_in_branch]
)
@pytest.mark.parametrize(
    ("held", "given", "kept"), [("x", "y", "[8@x,4]"), ("x", None, "[8@x,4]"), (None, "x", "[8,4]")]
)
def test_a_reference_keeps_the_type_that_it_was_made_with(change, held, given, kept):
    """Whatever way what is written to it is divided, also where no type said how it was itself."""
    host = np.arange(1, 33, dtype=np.float32).reshape(8, 4)
    start, value = (_put(h, *([a] if a else [])) for h, a in ((-host, held), (host, given)))

    def f(start, value):
        ref = dt.new_ref(start)
        change(ref, value)
        return ref[...], dt.freeze(ref)

    wanted = host.copy()  # of all but writes in part, and of what is added
    if change is _write_in_part:
        wanted = -host
        _write_in_part(wanted, host)
    elif change is _accumulate:
        wanted[...] = 0
    assert [a.str_short() for a in dt.make_jaxpr(f)(start, value).out_avals] == ["f32" + kept] * 2
    for result in dt.jit(f)(start, value):
        assert _type(result) == "f32" + kept
        np.testing.assert_array_equal(result, wanted)
    gradient = dt.jit(dt.grad(lambda v: (f(start, v)[1] * host).sum()))(value)
    np.testing.assert_array_equal(gradient, np.where(wanted == -host, 0, host))


def test_references_of_which_each_step_has_a_slice_keep_their_types(explicit):
    """Slices along a divided dimension are whole, and so are they when they are stacked."""
    host = np.arange(32, dtype=np.float32).reshape(8, 4)
    x = _put(host, "x")

    def f(x):
        ref = dt.new_ref(x)

        def step(carry, one):
            one[...] = one[...] * 2
            return carry + one[...].sum(), None

        total, _ = dt.lax.scan(step, dnp.float32(0), ref)
        return total, dt.freeze(ref)

    for transformed in (dt.jit(f), dt.jit(dt.checkpoint(f))):
        total, result = transformed(x)
        assert _type(result) == "f32[8@x,4]"
        np.testing.assert_array_equal(result, 2 * host)
        assert total == 2 * host.sum()
    gradient = dt.jit(dt.grad(lambda x: (f(x)[1] ** 2).sum()))(x)
    assert _type(gradient) == "f32[8@x,4]"
    np.testing.assert_array_equal(gradient, 8 * host)


def test_mapped_gathers_and_their_transposes_stay_divided(explicit):
    """The mapped axis of a scatter whose indices have it is divided as that of the indices is."""
    t, i = _put(X, "x"), dt.device_put(np.arange(32, dtype=np.int32).reshape(8, 4) % 4, P("x"))

    def read(t: Any, i: Any) -> Any:
        return (t.at[i].get(out_sharding=P("y")) ** 2).sum()

    gradient = dt.vmap(dt.grad(read))
    assert _type(dt.jit(gradient)(t, i)) == "f32[8@x,4]"
    plain = dt.vmap(dt.grad(lambda t, i: (t[i] ** 2).sum()))(dnp.asarray(X), np.asarray(i))
    np.testing.assert_allclose(dt.jit(gradient)(t, i), plain, rtol=1e-5)
    for name in ("add", "set", "max"):
        one = lambda t, i, u, m=name: getattr(t.at[i], m)(u, out_sharding=P())  # noqa: E731
        whole = lambda t, i, u, m=name: getattr(t.at[i], m)(u)  # noqa: E731
        result = dt.jit(dt.vmap(one, (None, 0, 0)))(dnp.zeros(4), i, t)
        assert _type(result) == "f32[8@x,4]"
        wanted = dt.vmap(whole, (None, 0, 0))(dnp.zeros(4), np.asarray(i), X)
        np.testing.assert_allclose(result, wanted, rtol=1e-5)
