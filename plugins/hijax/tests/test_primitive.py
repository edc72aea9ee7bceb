"""High primitives: their methods are their rules, and what is missing is named."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail.hijax import HiPrimitive, Zero, aval_method, aval_property, instantiate_zeros
from dovetail_core import IOEffect, Primitive, RegistryError, ShapedArray

X = np.array([0.5, 1.5, -2.0], np.float32)
used: Counter[str] = Counter()


def near(a, b):
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-5, atol=1e-6)


class Scaled(HiPrimitive):
    """Two results, ``x * y`` and ``sin(x)``."""

    multiple_results = True

    def abstract_eval(self, x, y, *, low=False):
        return [x, x]

    def is_high(self, *, low=False):
        return not low

    def to_lojax(self, x, y, *, low=False):
        used["to_lo"] += 1
        return [x * y, dnp.sin(x)]

    def linearize(self, nonzero, x, y, *, low=False):
        used[f"linearize {nonzero}"] += 1
        cos = dnp.cos(x)

        def linear(dx, dy):
            dx, dy = instantiate_zeros(dx), instantiate_zeros(dy)
            return [dx * y + x * dy, cos * dx]

        return self.bind(x, y), linear

    def dce(self, needed, eqn):
        used[f"dce {needed}"] += 1
        if not any(needed):
            return [False, False], None
        return [True, needed[0]], eqn if needed[0] else eqn.replace(
            primitive=sine_p.primitive, invars=eqn.invars[:1], outvars=eqn.outvars[1:], params={}
        )


class Sine(HiPrimitive):
    def abstract_eval(self, x):
        return x

    def to_lo(self, x):
        return dnp.sin(x)


scaled_p, sine_p = Scaled("test.scaled"), Sine("test.sine")


def test_linearize_serves_forward_and_reverse_mode():
    def f(x, y):
        return scaled_p.bind(x, y)[0].sum()

    for wrap in (lambda f: f, dovetail.jit, dovetail.remat):
        used.clear()
        near(dovetail.grad(wrap(f))(X, 2 * X), 2 * X)
        assert used["linearize [True, False]"] >= 1
        near(dovetail.grad(wrap(f), (0, 1))(X, 2 * X)[1], X)
        assert used["linearize [True, True]"] >= 1
        near(dovetail.jvp(wrap(f), (X, X), (X, 0 * X))[1], (X**2).sum())
        near(dovetail.hessian(wrap(lambda x: f(x, x)))(X), 2 * np.eye(3))


def test_dead_results_by_its_own_rule():
    used.clear()
    lowered = dovetail.jit(lambda x, y: dovetail.jit(lambda: scaled_p.bind(x, y)[1])()).lower(X, X)
    assert used["dce [False, True]"] == 0  # what is lowered is low
    near(lowered.compile()(X, X), np.sin(X))
    from dovetail_core import dce_closed

    program = dovetail.make_jaxpr(lambda x, y: scaled_p.bind(x, y))(X, X)
    reduced, needed = dce_closed(program, [False, True])
    assert used["dce [False, True]"] == 1 and needed == [True, False]
    assert [e.primitive for e in reduced.eqns] == [sine_p.primitive]


def test_high_by_its_parameters():
    assert dovetail.make_jaxpr(lambda x: scaled_p.bind(x, x))(X).is_high
    assert not dovetail.make_jaxpr(lambda x: scaled_p.bind(x, x, low=True))(X).is_high


def test_its_name_is_a_primitives():
    assert repr(sine_p) == "test.sine" and isinstance(sine_p.primitive, Primitive)
    # The same module may define it again.
    assert Sine("test.sine").primitive is not sine_p.primitive

    class Elsewhere(Sine):
        pass

    Elsewhere.__module__ = "elsewhere"
    with pytest.raises(RegistryError, match=r"'test.sine' is defined by .* and by elsewhere"):
        Elsewhere("test.sine")


def test_effects():
    class Prints(Sine):
        def abstract_eval(self, x):
            return x, {IOEffect("print")}

    prints_p = Prints("test.prints")
    program = dovetail.make_jaxpr(lambda x: prints_p.bind(x))(X)
    assert program.effects == {IOEffect("print")}


def test_zeros():
    zero = Zero(dovetail.typeof(X))
    near(zero.instantiate(), 0 * X)
    assert instantiate_zeros(X) is X
    near(instantiate_zeros(zero), 0 * X)


def test_attributes_of_traced_values(records):
    class WithAttributes(records.RecordType):
        total = aval_property(lambda r: r["x"].sum())
        scaled = aval_method(lambda r, by: r["x"] * by)

    class Make(HiPrimitive):
        def abstract_eval(self, x):
            return WithAttributes((("x", x),))

        def to_lo(self, x):
            return Value({"x": x})

    class Value(records.Record):
        pass

    dovetail.hijax.register_hitype(
        Value, lambda r: WithAttributes((("x", dovetail.typeof(r.fields["x"])),))
    )
    make_p = Make("test.make")

    def f(x):
        r = make_p.bind(x)
        return r.total + r.scaled(2.0).sum()

    near(dovetail.jit(f)(X), 3 * X.sum())


# --- errors ---------------------------------------------------------------------------------------


def test_methods_that_are_missing():
    class Empty(HiPrimitive):
        pass

    class Typed(HiPrimitive):
        def abstract_eval(self, x):
            return x

    empty_p, typed_p = Empty("test.empty"), Typed("test.typed")
    message = r"Empty \(.*\) has no method abstract_eval, which is needed to apply 'test.empty' at"
    with pytest.raises(NotImplementedError, match=message):
        dovetail.jit(empty_p.bind)(X)
    message = (
        r"Typed \(.*\) has no method to_lo, which is needed to evaluate or compile 'test.typed' at"
    )
    for wrap in (lambda f: f, dovetail.jit):
        with pytest.raises(NotImplementedError, match=message):
            wrap(lambda x: typed_p.bind(x))(X)
    with pytest.raises(Exception, match=r"table 'ad.jvp' has no rule for primitive 'test.sine'"):
        dovetail.grad(lambda x: sine_p.bind(x).sum())(X)


def test_rules_that_return_something_else_than_the_type_rule_says():
    class Wrong(HiPrimitive):
        multiple_results = True

        def abstract_eval(self, x, *, how):
            return [x, x]

        def to_lo(self, x, *, how):
            return [x] if how == "few" else [x, x[:2]]

    wrong_p = Wrong("test.wrong")
    for wrap in (lambda f: f, dovetail.jit):
        message = (
            r"the rule of 'to_lo' for 'test.wrong' \(.*\) returned 1 result at .*test_primitive.*; "
            "it must return a list of 2, one per result"
        )
        with pytest.raises(TypeError, match=message):
            wrap(lambda x: wrong_p.bind(x, how="few"))(X)
        message = r"a value of type f32\[2\] as result 1 at .*; the type rule says f32\[3\]"
        with pytest.raises(TypeError, match=message):
            wrap(lambda x: wrong_p.bind(x, how="type"))(X)


class Doubled(HiPrimitive):
    def abstract_eval(self, ref):
        return ShapedArray((3,), "float32")

    def to_lo(self, ref):
        return ref[...] * 2


def test_mutable_values_are_taken():
    doubled = Doubled("test.doubled")
    x = dnp.arange(3.0)
    np.testing.assert_array_equal(doubled.bind(dovetail.new_ref(x)), [0, 2, 4])

    @dovetail.jit
    def f(ref):
        before = doubled.bind(ref)
        ref[...] = before + 1
        return before, doubled.bind(ref)

    for result, wanted in zip(f(dovetail.new_ref(x)), ([0, 2, 4], [2, 6, 10])):
        np.testing.assert_array_equal(result, wanted)
