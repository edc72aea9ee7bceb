"""Sown values against Python loops with NumPy, under every transformation."""

from __future__ import annotations

import numpy as np
import pytest
from acme_harvest import nest, plant, reap, sow

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail_testing import matrix

f32 = np.float32
XS = np.linspace(0.2, 1.4, 4).astype(f32)
W = np.array([0.5, -1.5, 0.75], f32)

test_laws = matrix(primitives="harvest")


def same(found, wanted, rtol=1e-5):
    a, b = map(dovetail.tree.flatten, (found, wanted))
    assert a[1] == b[1]
    for x, y in zip(a[0], b[0]):
        assert np.shape(x) == np.shape(y)
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=rtol, atol=1e-6)


def net(c, xs):
    """Sows in a scan, in a branch in it, in a compiled function, and outside."""

    def step(k, x):
        k = sow(dnp.tanh(k * c + x), name="h")
        k = lax.cond(x > 0.7, lambda k: sow(k * 2, name="b"), lambda k: k, k)
        return k, k * x

    k, ys = lax.scan(step, sow(c * 2, name="start"), xs)
    return dovetail.jit(lambda k: sow(k * k, name="end"))(k), ys


def plain(c, xs, planted=None):
    planted = planted or {}
    k, hs, bs, ys = planted.get("start", c * 2), [], [], []
    start = c * 2
    for i, x in enumerate(xs):
        h = np.tanh(k * c + x)
        hs.append(h)
        k = planted["h"][i] if "h" in planted else h
        bs.append(k * 2 if x > 0.7 else 0 * k)
        k = k * 2 if x > 0.7 else k
        ys.append(k * x)
    sown = {"start": start, "h": np.array(hs), "b": np.array(bs), "end": k * k}
    return (k * k, np.array(ys)), sown


C = f32(0.6)


def test_reap():
    same(reap(net)(C, XS), plain(C, XS))
    same(dovetail.jit(reap(net))(C, XS), plain(C, XS))
    same(reap(dovetail.jit(net))(C, XS), plain(C, XS))
    same(reap(dovetail.checkpoint(net))(C, XS), plain(C, XS))
    same(net(C, XS), plain(C, XS)[0])


def test_vmap():
    cs = np.array([0.6, -0.3, 1.1], f32)
    each = [plain(c, XS) for c in cs]
    wanted = dovetail.tree.map(lambda *xs: np.stack(xs), *each)
    same(dovetail.vmap(reap(net), (0, None))(cs, XS), wanted)
    out, sown = reap(dovetail.vmap(net, (0, None)))(cs, XS)
    same(out, wanted[0])
    same(sown["start"], wanted[1]["start"])
    same(sown["h"], wanted[1]["h"].T)  # the loop's axis comes first, then the mapped one


def test_plant():
    values = {"h": np.cos(XS), "start": f32(3)}
    wanted = plain(C, XS, values)[0]
    same(plant(net)(values, C, XS), wanted)
    same(dovetail.jit(plant(net))(values, C, XS), wanted)
    out, sown = reap(net)(C, XS)
    same(plant(net)(sown, C, XS), out)
    many = {"h": np.stack([np.cos(XS), np.sin(XS)])}
    found = dovetail.vmap(plant(net), (0, None, None))(many, C, XS)
    each = [plain(C, XS, {"h": h})[0] for h in many["h"]]
    same(found, dovetail.tree.map(lambda *xs: np.stack(xs), *each))
    left = reap(lambda: plant(net)({"h": np.cos(XS)}, C, XS))()[1]
    assert set(left) == {"start", "b", "end"}


def test_derivatives_with_respect_to_planted_values():
    _, sown = reap(net)(C, XS)
    value = lambda hs: plain(C, XS, {"h": hs})[0][1].sum()  # noqa: E731
    found = dovetail.grad(lambda hs: dnp.sum(plant(net)({"h": hs}, C, XS)[1]))(sown["h"])
    step = 1e-2 * np.eye(4)
    hs = np.asarray(sown["h"], np.float64)
    wanted = np.array([(value(hs + e) - value(hs - e)) / 2e-2 for e in step])
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-3)


def test_derivatives():
    total = lambda c: dnp.sum(net(c, XS)[1])  # noqa: E731
    wanted = dovetail.grad(total)(C)
    same(dovetail.grad(lambda c: dnp.sum(reap(net)(c, XS)[0][1]))(C), wanted)
    slope, sown = reap(dovetail.grad(total))(C)
    same(slope, wanted)
    expected = plain(C, XS)[1]
    del expected["end"]
    same({k: sown[k] for k in expected}, expected)
    inner = dovetail.grad(lambda c: dnp.sum(reap(net)(c, XS)[1]["h"]))(C)
    ends = [plain(np.float64(C) + d, XS.astype(float))[1]["h"].sum() for d in (1e-4, -1e-4)]
    np.testing.assert_allclose(np.asarray(inner), (ends[0] - ends[1]) / 2e-4, rtol=1e-4)


def test_nest():
    layer = lambda x: sow(dnp.sin(x), name="h")  # noqa: E731

    def f(x):
        return nest(layer, scope="two")(nest(layer, scope="one")(x))

    y = np.sin(C)
    same(reap(f)(C), (np.sin(y), {"one/h": y, "two/h": np.sin(y)}))
    found = reap(nest(dovetail.jit(f), scope="net"))(C)
    same(found, (np.sin(y), {"net/one/h": y, "net/two/h": np.sin(y)}))
    same(plant(f)({"one/h": f32(2)}, C), np.sin(f32(2)))
    loop = lambda x: lax.fori_loop(0, 2, lambda i, k: nest(layer, scope="l")(k), x)  # noqa: E731
    same(reap(loop)(C), (np.sin(y), {"l/h": np.array([y, np.sin(y)])}))


def test_while():
    def f(x):
        return lax.while_loop(lambda k: k < 3, lambda k: sow(k * 1.5, name="k"), x)

    k = C
    while k < 3:
        k = k * f32(1.5)
    same(reap(f)(C), (k, {"k": k}))
    same(plant(f)({"k": f32(8)}, C), f32(8))


def test_references():
    def f(c, xs):
        seen = dovetail.new_ref(dnp.zeros((), f32))

        def step(k, x):
            seen[...] += sow(k * x, name="h")
            return k + seen[...], None

        k, _ = lax.scan(step, c, xs)
        return k, seen[...]

    k, total, hs = C, f32(0), []
    for x in XS:
        hs.append(k * x)
        total = total + hs[-1]
        k = k + total
    same(reap(f)(C, XS), ((k, total), {"h": np.array(hs)}))
    same(dovetail.jit(reap(f))(C, XS), ((k, total), {"h": np.array(hs)}))


def test_functions_with_rules_of_their_own_keep_them():
    @dovetail.custom_jvp
    def f(x):
        return sow(dnp.sin(x), name="h")

    f.defjvp(lambda p, t: (f(*p), 10 * t[0]))
    assert dovetail.grad(lambda x: reap(f)(x)[0])(C) == 10
    same(reap(f)(C), (np.sin(C), {"h": np.sin(C)}))


def test_pytrees():
    found = reap(lambda x: sow({"a": x, "b": (x * 2,)}, name="h"))(C)
    same(found, ({"a": C, "b": (C * 2,)}, {"h['a']": C, "h['b'][0]": C * 2}))


def test_errors():
    twice = lambda x: sow(x, name="h") + sow(x, name="h")  # noqa: E731
    with pytest.raises(
        ValueError, match=r"'h' is collected a second time at .*test_harvest.py:\d+"
    ):
        reap(twice)(C)
    with pytest.raises(KeyError, match=r"plant: nothing is sown as 'g'"):
        plant(net)({"g": C}, C, XS)
    with pytest.raises(TypeError, match=r"'start' is f32\[2\], and sown at .*py:\d+.* is f32\[\]"):
        plant(net)({"start": XS[:2]}, C, XS)
    with pytest.raises(ValueError, match=r"'h' is supplied to scan at .* as f32\[3\], .* 4 iterat"):
        plant(net)({"h": XS[:3]}, C, XS)
    with pytest.raises(TypeError, match=r"sow: \"h\['a'\]\" at .* is of type str, no array"):
        sow({"a": "x"}, name="h")
