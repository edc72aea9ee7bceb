"""Interpretations with a state, and with values that leave and enter, through these loops."""

from __future__ import annotations

import numpy as np
import pytest
from acme_loops import in_turns, tree_reduce

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail_core import Interpreter

f32 = np.float32
XS = np.array([0.5, 0.75, 1.5, 2.0], f32)


class Probe(Interpreter):
    """Counts sines; collects what is named, or puts something in its place."""

    def visit(self, eqn, args):
        if eqn.primitive.name == "sin":
            self.state = [self.state[0] + 1]
        elif eqn.primitive.name == "name":
            if eqn.params["name"] in self.supplied:
                return [self.supply(eqn.params["name"])]
            self.collect(eqn.params["name"], args[0])
        return NotImplemented


def probed(f, *args, **supplied):
    probe = Probe([np.int32(0)])
    probe.supplied = supplied
    out = probe.call(f, *args)
    return out, probe.state[0], probe.collected


def turns(c, xs):
    first = lambda k, x: (dovetail.checkpoint_name(dnp.sin(k) * x, "a"), k)  # noqa: E731
    second = lambda k, y: (dnp.sin(dovetail.checkpoint_name(k + y, "b")), None)  # noqa: E731
    return in_turns(first, second, c, (xs, xs * 2))[0]


def plain(c, xs, a=None, b=None):
    sown = {"a": [], "b": []}
    for i, x in enumerate(xs):
        sown["a"].append(np.sin(c) * x)
        c = sown["a"][-1] if a is None else a[i]
        sown["b"].append(c + x * 2)
        c = np.sin(sown["b"][-1] if b is None else b[i])
    return c, sown


def test_two_functions_in_turns():
    for f in (probed, dovetail.jit(lambda f, c, xs: probed(f, c, xs), static_argnums=0)):
        out, count, sown = f(turns, f32(0.3), XS)
        wanted, expected = plain(f32(0.3), XS)
        assert count == 8
        np.testing.assert_allclose(out, wanted, rtol=1e-5)
        for name in expected:
            np.testing.assert_allclose(sown[name], expected[name], rtol=1e-5)
    a, b = np.cos(XS), np.sin(XS)
    out, _, sown = probed(turns, f32(0.3), XS, a=a)
    np.testing.assert_allclose(out, plain(f32(0.3), XS, a=a)[0], rtol=1e-5)
    assert list(sown) == ["b"]
    np.testing.assert_allclose(probed(turns, f32(0.3), XS, b=b)[0], np.sin(b[-1]), rtol=1e-5)


def test_a_name_in_both_turns():
    mark = lambda k, _: (dovetail.checkpoint_name(k * 2, "a"), None)  # noqa: E731
    with pytest.raises(ValueError, match=r"'a' is collected a second time at .*test_inter.*py"):
        probed(lambda c: in_turns(mark, mark, c, (XS, None))[0], f32(1))


def test_what_is_in_a_tree_is_collected_and_supplied():
    f = lambda xs: tree_reduce(lambda a, b: dovetail.checkpoint_name(a * b, "p"), xs)  # noqa: E731
    out, _, sown = probed(f, XS)
    np.testing.assert_allclose(sown["p"], [XS[0] * XS[1], XS[2] * XS[3], np.prod(XS)], rtol=1e-6)
    np.testing.assert_allclose(out, np.prod(XS), rtol=1e-6)
    assert probed(f, XS, p=np.array([3, 4, 7], f32))[0] == 7


def test_a_state_finds_no_order_in_a_tree():
    wanted = (
        r"an interpretation cannot go through tree_reduce at .*test_interpreter\.py:\d+ .*: its "
        r"iterations run in any order, so that none comes next\. Use a loop whose iterations run "
        r"in turn, or leave it out \(visit\)\."
    )
    with pytest.raises(TypeError, match=wanted):
        probed(lambda xs: tree_reduce(lambda a, b: dnp.sin(a) * b, xs), XS)


def test_a_tree_in_a_loop():
    def f(c, xs):
        def step(k, x):
            total = tree_reduce(lambda a, b: dovetail.checkpoint_name(a * b, "p"), xs * k)
            return dnp.sin(total) + x, None

        return lax.scan(step, c, xs)[0]

    k, products = f32(0.9), []
    for x in XS:
        y = XS * k
        products.append([y[0] * y[1], y[2] * y[3], np.prod(y)])
        k = np.sin(np.prod(y)) + x
    out, count, sown = probed(f, f32(0.9), XS)
    assert count == 4
    np.testing.assert_allclose(out, k, rtol=1e-5)
    np.testing.assert_allclose(sown["p"], products, rtol=1e-5)
