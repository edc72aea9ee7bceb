"""Interpretations with a state, with values that leave and enter, through the plugins' regions.

``Probe`` counts sines as they happen and collects (or replaces) what ``checkpoint_name`` marks. The
oracles are Python loops with NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.lax as lax
import dovetail.numpy as dnp
from dovetail.hijax import new_box
from dovetail_core import ClosedJaxpr, Interpreter, check_jaxpr, interpret, stage, typeof

f32 = np.float32
XS = np.linspace(0.2, 1.4, 4).astype(f32)
mark = dovetail.checkpoint_name


class Probe(Interpreter):
    """The state is the number of sines; a sine of more than 9 would change no result."""

    def visit(self, eqn: Any, args: list[Any]) -> Any:
        if eqn.primitive.name == "sin":
            self.state = [self.state[0] + 1]
        elif eqn.primitive.name == "name":
            name = eqn.params["name"]
            if name in self.supplied:
                return [self.supply(name)]
            self.collect(name, args[0])
        return NotImplemented


def probed(f: Any, supplied: Any = None) -> Any:
    def g(*args: Any) -> Any:
        probe = Probe([np.int32(0)])
        probe.supplied = dict(supplied or {})
        out = probe.call(f, *args)
        return out, probe.state[0], probe.collected

    return g


def same(result: Any, wanted: Any) -> None:
    a, b = map(dovetail.tree.leaves, (result, wanted))
    assert len(a) == len(b)
    for x, y in zip(a, b):
        assert np.shape(x) == np.shape(y)
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-5)


def check(f: Any, args: Any, wanted: Any) -> None:
    """Evaluated, compiled, verified, mapped; and the interpretation of compiled and mapped ones."""
    g = probed(f)
    same(g(*args), wanted)
    same(dovetail.jit(g)(*args), wanted)
    same(probed(dovetail.jit(f))(*args), wanted)
    check_jaxpr(dovetail.make_jaxpr(g)(*args))
    many = [np.stack([np.asarray(x)] * 2) for x in args]
    twice = dovetail.tree.map(lambda x: np.stack([np.asarray(x)] * 2), wanted)
    same(dovetail.vmap(g)(*many), twice)
    same(dovetail.jit(dovetail.vmap(g))(*many), twice)


def test_calls():
    def inner(x):
        return dnp.sin(mark(x * 2, "h"))

    for call in (inner, dovetail.jit(inner), dovetail.checkpoint(inner)):
        check(lambda x, call=call: call(x) + 1, (f32(0.5),), (np.sin(1.0) + 1, 1, {"h": 1.0}))


@pytest.mark.parametrize("reverse", [False, True])
def test_scan(reverse):
    def f(c, xs):
        def step(k, x):
            k = mark(dnp.sin(k) * x + c, "h")
            return k, k * 2

        return lax.scan(step, c, xs, reverse=reverse)

    k, hs = f32(0.5), []
    for x in XS[::-1] if reverse else XS:
        k = np.sin(k) * x + f32(0.5)
        hs.append(k)
    hs = np.array(hs[::-1] if reverse else hs)
    check(f, (f32(0.5), XS), ((k, hs * 2), 4, {"h": hs}))
    given = np.arange(4.0, dtype=f32)
    result = probed(f, {"h": given})(f32(0.5), XS)
    same(result, ((given[0 if reverse else -1], given * 2), 4, {}))


def test_nested_scans():
    def f(xs):
        def inner(k, x):
            return mark(dnp.sin(k) + x, "h"), None

        def outer(k, x):
            k = lax.scan(inner, k, xs)[0]
            return mark(k * x, "g"), None

        return lax.scan(outer, f32(0), xs)[0]

    k, hs, gs = f32(0), np.zeros((4, 4), f32), []
    for i, x in enumerate(XS):
        for j, y in enumerate(XS):
            hs[i, j] = k = np.sin(k) + y
        k = k * x
        gs.append(k)
    check(f, (XS,), (k, 16, {"h": hs, "g": np.array(gs)}))
    supplied = {"h": np.cos(hs)}
    same(probed(f, supplied)(XS)[0], np.cos(hs)[-1, -1] * XS[-1])


def test_fori():
    def f(x, n):
        return lax.fori_loop(0, n, lambda i, k: mark(dnp.sin(k), "h") + i, x)

    k, hs = f32(0.5), []
    for i in range(3):
        hs.append(np.sin(k))
        k = hs[-1] + i
    check(lambda x: f(x, 3), (f32(0.5),), (k, 3, {"h": np.array(hs)}))
    check(f, (f32(0.5), np.int32(3)), (k, 3, {"h": hs[-1]}))  # an open-ended loop
    same(probed(f)(f32(0.5), np.int32(0)), (0.5, 0, {"h": 0.0}))


def test_while():
    def f(x):
        body = lambda k: mark(dnp.sin(k) + k, "h") + 0.5  # noqa: E731
        return lax.while_loop(lambda k: k < 3, body, x)

    k, h, n = f32(0.5), f32(0), 0
    while k < 3:
        h = np.sin(k) + k
        k, n = h + f32(0.5), n + 1
    check(f, (f32(0.5),), (k, n, {"h": h}))
    same(probed(f)(f32(5)), (5.0, 0, {"h": 0.0}))


def test_conditions_of_loops():
    """What counts and collects in a condition happens once more than the body."""

    def f(x, c):
        condition = lambda k: mark(dnp.sin(k[0]), "h") + c > k[1]  # noqa: E731
        body = lambda k: (k[0] + 0.1, dnp.sin(k[1]) + k[0])  # noqa: E731
        return lax.while_loop(condition, body, (x, x * 0))

    a, b, n = f32(0.3), f32(0), 1
    while np.sin(a) + f32(1.5) > b:
        a, b, n = a + f32(0.1), np.sin(b) + a, n + 2
    check(f, (f32(0.3), f32(1.5)), ((a, b), n, {"h": np.sin(a)}))
    same(probed(f)(f32(0.3), f32(-9)), ((0.3, 0.0), 1, {"h": np.sin(f32(0.3))}))


def test_loops_that_checkpoint():
    scan = lambda x: lax.scan(  # noqa: E731
        lambda k, y: (mark(dnp.sin(k), "h") * y, None),
        x,
        XS,
        checkpoint=dovetail.Online(snapshots=2),
    )[0]
    k, hs = f32(0.5), []
    for x in XS:
        hs.append(np.sin(k))
        k = hs[-1] * x
    check(scan, (f32(0.5),), (k, 4, {"h": np.array(hs)}))
    same(dovetail.grad(lambda x: probed(scan)(x)[0])(f32(0.5)), dovetail.grad(scan)(f32(0.5)))


def test_cond():
    def f(i, x):
        branches = (
            lambda x: dnp.sin(dnp.sin(x)),
            lambda x: mark(x * 2, "h"),
            lambda x: mark(x * 3, "g") + mark(dnp.sin(x), "h"),
        )
        return lax.switch(i, branches, x)

    x = f32(0.5)
    wanted = [
        (np.sin(np.sin(x)), 2, {"h": 0.0, "g": 0.0}),
        (1.0, 0, {"h": 1.0, "g": 0.0}),
        (1.5 + np.sin(x), 1, {"h": np.sin(x), "g": 1.5}),
    ]
    for i in range(3):
        check(f, (np.int32(i), x), wanted[i])


def test_branches_that_collect_other_types():
    def f(p, x):
        return lax.cond(p, lambda x: mark(x, "h"), lambda x: mark(dnp.sum(x), "h") + x, x)

    with pytest.raises(TypeError, match=r"'h' is collected as .* and, in another branch, as .* at"):
        probed(f)(True, XS)


def test_all_at_once():
    def f(c, xs):
        def step(k, x):
            k = lax.cond(x > 0.5, dovetail.jit(lambda k: dnp.sin(k) * c), lambda k: k, k)
            body = lambda s: (s[0] * 1.5, mark(dnp.sin(s[1]), "h"))  # noqa: E731
            return lax.while_loop(lambda s: s[0] < x, body, (f32(0.25), k))[1] + x, x

        return dovetail.checkpoint(lambda: lax.scan(step, c, xs))()

    k, hs, n = f32(0.5), [], 0
    for x in XS:
        k, n = (np.sin(k) * f32(0.5), n + 1) if x > 0.5 else (k, n)
        a, h = f32(0.25), f32(0)
        while a < x:
            a, h, n = a * f32(1.5), np.sin(k), n + 1
            k = h
        k = k + x
        hs.append(h)
    check(f, (f32(0.5), XS), ((k, XS), n, {"h": np.array(hs)}))


def test_derivatives_of_and_under():
    def f(c):
        return lax.scan(lambda k, x: (mark(dnp.sin(k) * x, "h"), None), c, XS)[0]

    wanted = dovetail.grad(f)(f32(0.5))
    value, collected = (lambda g: (lambda c: g(c)[0], lambda c: dnp.sum(g(c)[2]["h"])))(probed(f))
    same(dovetail.grad(value)(f32(0.5)), wanted)
    step = 1e-2
    result = dovetail.grad(collected)(f32(0.5))
    slope = (collected(0.5 + step) - collected(0.5 - step)) / (2 * step)
    np.testing.assert_allclose(result, np.asarray(slope), rtol=1e-3)
    out, count, _ = probed(dovetail.grad(f))(f32(0.5))
    same((out, count), (wanted, 4))
    second = dovetail.grad(dovetail.grad(f))(f32(0.5))
    same(dovetail.jit(dovetail.grad(lambda c: probed(dovetail.grad(f))(c)[0]))(f32(0.5)), second)


def custom(kind, inside):
    """A function with a derivative that is wrong, so that one sees whether it is used."""

    def f(x):
        return dnp.sin(x) if inside else dnp.cos(x)

    if kind == "jvp":
        f = dovetail.custom_jvp(f)
        f.defjvp(lambda p, t: (f(*p), 10 * t[0]))
    else:
        f = dovetail.custom_vjp(f)
        f.defvjp(lambda x: (f(x), None), lambda _, ct: (10 * ct,))
    return f


@pytest.mark.parametrize("kind", ["jvp", "vjp"])
def test_custom_rules(kind):
    x = f32(0.5)
    untouched, touched = custom(kind, False), custom(kind, True)
    g = lambda f: lambda x: probed(f)(x)[0]  # noqa: E731
    assert dovetail.grad(g(untouched))(x) == 10
    same(probed(touched)(x), (np.sin(x), 1, {}))
    same(dovetail.grad(g(touched))(x), np.cos(x))
    nested = lambda x: lax.fori_loop(0, 2, lambda _, k: untouched(dnp.sin(k)), x)  # noqa: E731
    k = np.sin(np.cos(np.sin(x)))
    wanted = 100 * np.cos(x) * np.cos(np.cos(np.sin(x)))
    same(probed(nested)(x), (np.cos(k), 2, {}))
    same(dovetail.grad(g(nested))(x), wanted)


class Watch(Probe):
    keeps_results = True


@pytest.mark.parametrize("kind", ["jvp", "vjp"])
def test_custom_rules_under_what_only_looks(kind):
    def f(x):
        watch = Watch([np.int32(0)])
        return watch.call(custom(kind, True), x), watch.state[0]

    x = f32(0.5)
    same(f(x), (np.sin(x), 1))
    assert dovetail.grad(lambda x: f(x)[0])(x) == 10
    assert dovetail.jit(dovetail.grad(lambda x: f(x)[0]))(x) == 10


def test_regions_are_visited_once():
    seen = []

    def visit(eqn, args):
        seen.append(eqn.primitive.name)
        return [dnp.cos(args[0])] if eqn.primitive.name == "sin" else NotImplemented

    def around(inner):
        f = dovetail.custom_jvp(lambda x: inner(x))
        f.defjvp(lambda p, t: (p[0], t[0]))
        return f

    f = around(around(around(dnp.sin)))
    jaxpr, consts = stage(lambda x: [f(x)], [typeof(f32(0.5))])
    same(interpret(ClosedJaxpr(jaxpr, consts), [f32(0.5)], visit), [np.cos(f32(0.5))])
    assert seen.count("sin") == 1


def test_references():
    def f(c, xs):
        seen = dovetail.new_ref(dnp.zeros(2, f32))

        def step(k, x):
            seen[0] += mark(dnp.sin(k) * x, "h")
            lax.cond(x > 0.5, lambda: seen.__setitem__(1, dnp.sin(seen[0])), lambda: None)
            return k + seen[1], None

        k, _ = lax.scan(step, c, xs)
        return k, seen[...]

    k, a, b, hs, n = f32(0.5), f32(0), f32(0), [], 0
    for x in XS:
        hs.append(np.sin(k) * x)
        a, n = a + hs[-1], n + 1
        if x > 0.5:
            b, n = np.sin(a), n + 1
        k = k + b
    check(f, (f32(0.5), XS), ((k, np.array([a, b])), n, {"h": np.array(hs)}))


def test_references_from_outside():
    seen = dovetail.new_ref(f32(1))

    def f(xs):
        def step(k, x):
            seen[...] = seen[...] * x
            return dnp.sin(k), None

        return lax.scan(step, xs[0], xs)[0]

    _out, count, _ = probed(f)(XS)
    assert count == 4
    np.testing.assert_allclose(np.asarray(seen[...]), np.prod(XS), rtol=1e-6)
    dovetail.jit(probed(f))(XS)
    np.testing.assert_allclose(np.asarray(seen[...]), np.prod(XS) ** 2, rtol=1e-6)


def test_effects_happen_once():
    said: list[Any] = []

    def f(x):
        @dovetail.custom_jvp
        def inner(x):
            dovetail.debug.callback(lambda v: said.append(float(v)), x)
            return dnp.sin(x)

        inner.defjvp(lambda p, t: (p[0], t[0]))
        step = lambda k, _: (inner(k) * 0 + k + 1, None)  # noqa: E731
        return lax.cond(x > 0, lambda x: lax.scan(step, x, None, length=3)[0], lambda x: x, x)

    for g in (probed(f), dovetail.jit(probed(f)), lambda x: Watch([np.int32(0)]).call(f, x)):
        said.clear()
        g(f32(1))
        dovetail.effects_barrier()
        assert sorted(said) == [1.0, 2.0, 3.0]


def test_numbers_keep_their_types():
    with dovetail.enable_x64(True):
        program = dovetail.make_jaxpr(
            lambda x: lax.fori_loop(0, 3, lambda i, k: dnp.sin(k) * 0.1 + 1e-12, x)
        )(np.float64(0.5))
        x = dnp.asarray(0.5)
    wanted = 0.5
    for _ in range(3):
        wanted = np.sin(wanted) * 0.1 + 1e-12
    assert program.out_avals[0].dtype == np.float64
    probe = Probe([np.int32(0)])
    (result,) = probe.run(program, [x])
    assert np.asarray(result).dtype == np.float64 and probe.state[0] == 3
    np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-14)


def test_lines_stay():
    def f(c):
        def step(k, x):
            y = dnp.tanh(k)  # the line
            return lax.cond(x > 0, lambda: dnp.sin(y), lambda: dnp.exp(y)), None

        return lax.while_loop(lambda k: dnp.sin(k) < -2, lambda k: lax.scan(step, k, XS)[0], c)

    def lines(jaxpr, result):
        for eqn in jaxpr.eqns:
            if eqn.primitive.regions is not None:
                for r in eqn.primitive.regions(eqn.params).regions:
                    lines(r.program.jaxpr, result)
            elif eqn.primitive.name in ("tanh", "sin", "exp"):
                result.add((eqn.primitive.name, eqn.source.line))
        return result

    before = lines(dovetail.make_jaxpr(f)(f32(0.5)).jaxpr, set())
    after = lines(dovetail.make_jaxpr(probed(f))(f32(0.5)).jaxpr, set())
    assert len(before) == 4 and after == before


def test_high_types():
    def f(x):
        box = new_box()
        box.set(dnp.sin(x) * 0 + x)
        lax.fori_loop(0, 3, lambda i, k: (box.set(dnp.sin(box.get())), k)[1], 0)
        return box.get()

    wanted = np.sin(np.sin(np.sin(f32(0.5))))
    same(probed(f)(f32(0.5)), (wanted, 4, {}))
    same(dovetail.jit(probed(f))(f32(0.5)), (wanted, 4, {}))


def test_what_does_not_change_is_left_alone():
    def f(x):
        return lax.fori_loop(0, 3, lambda i, k: dnp.cos(k), x)

    before = dovetail.make_jaxpr(f)(f32(0.5))
    assert str(dovetail.make_jaxpr(lambda x: probed(f)(x)[0])(f32(0.5))) == str(before)


def test_a_state_that_is_only_read_is_no_loop_variable():
    class Scale(Interpreter):
        def visit(self, eqn: Any, args: list[Any]) -> Any:
            return [args[0] * self.state[0]] if eqn.primitive.name == "sin" else NotImplemented

    def f(x):
        return lax.scan(lambda k, y: (dnp.sin(k) + y, None), x, XS)[0]

    def g(x, s):
        return Scale([s]).call(f, x)

    k = f32(0.5)
    for x in XS:
        k = k * 2 + x
    same(g(f32(0.5), f32(2)), k)
    eqn = next(
        e for e in dovetail.make_jaxpr(g)(f32(0.5), f32(2)).eqns if e.primitive.name == "scan"
    )
    assert eqn.params["num_carry"] == 1
