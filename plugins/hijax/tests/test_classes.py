"""High primitives as objects: rules that are given, rules that are derived, and their errors."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail.hijax import VJPHiPrimitive, Zero

X = np.array([0.5, 1.5, -2.0], np.float32)
used: Counter[str] = Counter()


@pytest.fixture(autouse=True)
def no_use():
    used.clear()


class Power(VJPHiPrimitive):
    def __init__(self, aval, power):
        self.in_avals = (aval,)
        self.out_aval = aval
        self.params = {"power": power}
        super().__init__()

    def expand(self, x):
        used["expand"] += 1
        return x**self.power


class JvpPower(Power):
    def jvp(self, primals, tangents):
        used["jvp"] += 1
        (x,), (t,) = primals, tangents
        return self(x), self.power * x ** (self.power - 1) * t


class LinPower(Power):
    def lin(self, nzs_in, x):
        used["lin"] += 1
        assert nzs_in == (True,)
        return self(x), {"slope": self.power * x ** (self.power - 1)}

    def linearized(self, residuals, t):
        used["linearized"] += 1
        return residuals["slope"] * t


class VjpPower(Power):
    def vjp_fwd(self, nzs_in, x):
        used["fwd"] += 1
        return self(x), x

    def vjp_bwd(self, res, ct, accum):
        used["bwd"] += 1
        accum.accum(ct * self.power * res ** (self.power - 1))


class AllPower(JvpPower, LinPower, VjpPower):
    pass


CLASSES = [Power, JvpPower, LinPower, VjpPower, AllPower]


def op(cls, x, power=3):
    return cls(dovetail.typeof(x).strong(), power)(x)


def near(a, b, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("wrap", [lambda f: f, dovetail.jit, dovetail.remat])
def test_any_rule_gives_all_derivatives(cls, wrap):
    def f(x):
        return op(cls, x).sum()

    near(wrap(f)(X), (X**3).sum())
    near(dovetail.grad(wrap(f))(X), 3 * X**2)
    near(dovetail.jvp(wrap(f), (X,), (X,))[1], (3 * X**3).sum())
    near(dovetail.jit(dovetail.grad(wrap(f)))(X), 3 * X**2)
    near(dovetail.hessian(wrap(f))(X), np.diag(6 * X))
    near(dovetail.jacfwd(dovetail.grad(wrap(f)))(X), np.diag(6 * X))
    near(dovetail.linearize(wrap(f), X)[1](X), (3 * X**3).sum())


@pytest.mark.parametrize("cls", CLASSES)
def test_maps_and_loops(cls):
    xs = np.stack([X, 2 * X])
    near(dovetail.vmap(lambda x: op(cls, x))(xs), xs**3)
    near(dovetail.vmap(dovetail.grad(lambda x: op(cls, x).sum()))(xs), 3 * xs**2)
    near(dovetail.grad(lambda xs: dovetail.vmap(lambda x: op(cls, x))(xs).sum())(xs), 3 * xs**2)

    def loop(x):
        return lax.scan(lambda c, _: (op(cls, c, 2), c), x, None, length=3)[0].sum()

    near(loop(X), (X**8).sum())
    near(dovetail.grad(loop)(X), 8 * X**7, 1e-4)
    near(dovetail.jvp(loop, (X,), (X,))[1], (8 * X**8).sum(), 1e-4)
    near(dovetail.vmap(dovetail.grad(loop))(xs), 8 * xs**7, 1e-3)


@pytest.mark.parametrize(
    ("cls", "forward", "reverse"),
    [
        (Power, {"expand"}, {"expand"}),
        (JvpPower, {"jvp", "expand"}, {"jvp", "expand"}),
        (LinPower, {"lin", "linearized", "expand"}, {"lin", "linearized", "expand"}),
        (VjpPower, {"fwd", "bwd", "expand"}, {"fwd", "bwd", "expand"}),
        (AllPower, {"jvp", "expand"}, {"fwd", "bwd", "expand"}),
    ],
)
def test_forward_and_reverse_mode_use_the_rules_that_are_made_for_them(cls, forward, reverse):
    for wrap in (lambda f: f, dovetail.jit, dovetail.vmap):
        used.clear()
        dovetail.jvp(wrap(lambda x: op(cls, x)), (X,), (X,))
        assert set(used) == forward
        used.clear()
        dovetail.grad(lambda x, wrap=wrap: wrap(lambda x: op(cls, x))(x).sum())(X)
        assert set(used) == reverse


class Ratio(VJPHiPrimitive):
    """Two arguments, one a dictionary; two results."""

    def __init__(self, aval):
        self.in_avals = ({"a": aval, "b": aval}, aval)
        self.out_aval = (aval, {"n": aval})
        self.params = {}
        super().__init__()

    def expand(self, d, y):
        return d["a"] * y / d["b"], {"n": dnp.sin(y)}

    def vjp_fwd(self, nzs_in, d, y):
        used[f"fwd {nzs_in}"] += 1
        return self(d, y), (d, y)

    def vjp_bwd(self, res, cts, accums, y_accum):
        (d, y), (ct, other) = res, cts
        used[f"needed {y_accum.needed}"] += 1
        accums["a"].accum(ct * y / d["b"])
        accums["b"].accum(-ct * d["a"] * y / d["b"] ** 2)
        y_accum.accum(ct * d["a"] / d["b"])
        y_accum.accum(other["n"] * dnp.cos(y))

    def dce(self, used_outs):
        used[f"dce {used_outs}"] += 1
        if used_outs[0]:
            return ({"a": True, "b": True}, True), Quotient(self.in_avals[1])
        return ({"a": False, "b": False}, True), Sine(self.in_avals[1])


class Quotient(VJPHiPrimitive):
    def __init__(self, aval):
        self.in_avals, self.out_aval, self.params = (aval, aval, aval), (aval,), {}
        super().__init__()

    def expand(self, a, b, y):
        return (a * y / b,)


class Sine(VJPHiPrimitive):
    def __init__(self, aval):
        self.in_avals, self.out_aval, self.params = (aval,), (aval,), {}
        super().__init__()

    def expand(self, y):
        return (dnp.sin(y),)


def ratio(a, b, y):
    return Ratio(dovetail.typeof(y).strong())({"a": a, "b": b}, y)


def test_trees_of_arguments_and_accumulators():
    def f(a, b, y):
        z, d = ratio(a, b, y)
        return (z * d["n"]).sum()

    def plain(a, b, y):
        return (a * y / b * dnp.sin(y)).sum()

    args = (X, X + 3, 2 * X)
    for g, h in zip(dovetail.grad(f, (0, 1, 2))(*args), dovetail.grad(plain, (0, 1, 2))(*args)):
        near(g, h)
    used.clear()
    near(dovetail.grad(f)(*args), dovetail.grad(plain)(*args))
    assert used["needed False"] == 1 and used["fwd ({'a': True, 'b': False}, False)"] == 1
    mapped = dovetail.vmap(dovetail.grad(lambda a, b, y: f(a, b, y)), (None, 0, 0))
    near(mapped(X[0], X + 3, X), dovetail.vmap(dovetail.grad(plain), (None, 0, 0))(X[0], X + 3, X))
    both = dovetail.grad(lambda y: dovetail.vmap(f, (0, 0, None))(X, X + 3, y).sum())
    near(both(0.5), dovetail.grad(lambda y: plain(X, X + 3, y))(0.5))


@pytest.mark.parametrize("map_it", [False, True])
def test_dead_results(map_it):
    wrap = dovetail.vmap if map_it else (lambda f: f)
    text = str(
        dovetail.make_jaxpr(
            lambda a, b, y: dovetail.jit(lambda *v: wrap(ratio)(*v)[1]["n"])(a, b, y)
        )(X, X + 3, X)
    )
    assert "Ratio" in text
    lowered = dovetail.jit(lambda a, b, y: wrap(ratio)(a, b, y)[1]["n"]).lower(X, X + 3, X)
    near(lowered.compile()(X, X + 3, X), np.sin(X))
    assert "divide" not in lowered.as_text()


def test_equal_objects_are_one_operation():
    a, b = (VjpPower(dovetail.typeof(X), 3) for _ in range(2))
    assert a == b and hash(a) == hash(b) and a != VjpPower(dovetail.typeof(X), 2)
    assert a != JvpPower(dovetail.typeof(X), 3)
    assert repr(a) == "VjpPower(power=3)"
    ir = dovetail.make_jaxpr(lambda x: a(x))(X)
    assert ir == dovetail.make_jaxpr(lambda x: b(x))(X) and ir.is_high
    assert [e.primitive.name for e in ir.eqns] == ["VjpPower"]


class Batches(VjpPower):
    def batch(self, axis, args, dims):
        used[f"batch {axis.size} {dims}"] += 1
        return op(Power, args[0], self.power), dims[0]


def test_a_batch_rule():
    xs = np.stack([X, 2 * X], 1)
    near(dovetail.vmap(lambda x: op(Batches, x), 1, 1)(xs), xs**3)
    assert used["batch 2 (1,)"] == 1


def test_zero_tangents_are_symbolic():
    class Pair(VJPHiPrimitive):
        def __init__(self, aval):
            self.in_avals, self.out_aval, self.params = (aval, aval), (aval, aval), {}
            super().__init__()

        def expand(self, x, y):
            return x * 2, y * 3

        def jvp(self, primals, tangents):
            assert tangents[1].__class__ is Zero
            assert tangents[1].aval == dovetail.typeof(X)
            near(tangents[1].instantiate(), 0 * X)
            return self(*primals), (2 * tangents[0], tangents[1])

    (_, _), (t, zero) = dovetail.jvp(lambda x: Pair(dovetail.typeof(X))(x, X), (X,), (X,))
    near(t, 2 * X)
    near(zero, 0 * X)


# --- errors ---------------------------------------------------------------------------------------


def test_arguments_of_other_types():
    message = (
        r"VjpPower\(power=3\) was applied to a value of type f32\[2\] at argument\[0\].*; it must "
        r"be of type f32\[3\]"
    )
    with pytest.raises(TypeError, match=message):
        VjpPower(dovetail.typeof(X), 3)(X[:2])


def test_rules_that_return_the_wrong_thing():
    class Wrong(Power):
        def vjp_fwd(self, nzs_in, x):
            return self(x), x

        def vjp_bwd_retval(self, res, ct):
            return (ct[:2],)

    message = (
        r"Wrong\(power=3\)\.vjp_bwd_retval returned a value of type f32\[2\] at result\[0\].*; "
        r"it must be of type f32\[3\]"
    )
    with pytest.raises(TypeError, match=message):
        dovetail.grad(lambda x: op(Wrong, x).sum())(X)

    class Structure(Power):
        def jvp(self, primals, tangents):
            return self(*primals), (tangents[0],)

    message = r"Structure\(power=3\)\.jvp \(its tangent\) returned another structure than it must"
    with pytest.raises(TypeError, match=message):
        dovetail.jvp(lambda x: op(Structure, x), (X,), (X,))

    class NoPair(Power):
        def lin(self, nzs_in, x):
            return self(x)

        def linearized(self, residuals, t):
            return t

    with pytest.raises(TypeError, match=r"NoPair\(power=3\)\.lin must return a pair, got"):
        dovetail.grad(lambda x: op(NoPair, x).sum())(X)

    class Accumulates(VjpPower):
        def vjp_bwd(self, res, ct, accum):
            accum.accum(ct.sum())

    message = (
        r"Accumulates\(power=3\)\.vjp_bwd \(what it accumulates\) returned a value of type f32"
    )
    with pytest.raises(TypeError, match=message):
        dovetail.grad(lambda x: op(Accumulates, x).sum())(X)


def test_what_must_be_defined():
    class Nothing(VJPHiPrimitive):
        def __init__(self, aval):
            self.in_avals, self.out_aval, self.params = (aval,), aval, {}
            super().__init__()

    message = r"Nothing .* has no method expand, which is needed to evaluate or compile it"
    with pytest.raises(NotImplementedError, match=message):
        Nothing(dovetail.typeof(X))(X)

    class Forgets(VJPHiPrimitive):
        pass

    with pytest.raises(TypeError, match=r"Forgets.__init__ must set in_avals before it calls"):
        Forgets()


def test_a_backward_rule_that_cannot_be_transposed():
    class Rounds(Power):
        def vjp_fwd(self, nzs_in, x):
            return self(x), x

        def vjp_bwd(self, res, ct, accum):
            accum.accum(ct**2)

    near(dovetail.grad(lambda x: op(Rounds, x).sum())(X), np.ones(3))
    message = r"forward mode of Rounds\(power=3\) is the transpose of its backward rule.*Define jvp"
    with pytest.raises(Exception, match=message):
        dovetail.jvp(lambda x: op(Rounds, x), (X,), (X,))


@pytest.mark.parametrize("keep", [True, False])
def test_a_remat_rule_decides_what_is_kept(keep):
    class Kept(VjpPower):
        def remat(self, policy, aval):
            used[f"asked for {aval.str_short()}"] += 1
            return keep

    def f(x):
        return (op(Kept, x) ** 2).sum()

    policy = dovetail.checkpoint_policies.nothing_saveable
    near(dovetail.grad(dovetail.remat(f, policy=policy))(X), 6 * X**5)
    assert used["asked for f32[3]"] >= 1
