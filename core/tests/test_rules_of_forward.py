"""Rules of forward-style tables: that decline, that fail, that return what they should not."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail_base.options import enable_checks
from dovetail_core import LiftTrace, MissingRule, Primitive, RuleTable, def_impl, derive, lift_call
from dovetail_testing.toy import EMITTED, add_p, emit_p, mul_p

f32 = np.float32


@pytest.fixture
def lift(carriers):
    """A table of its own for bounds, and running a primitive under it."""
    table = RuleTable("test.bounds", derive=derive)

    class Bounds(carriers.Intervals):
        key = "test.bounds"
        shown = False

        def trace(self, parent):
            return LiftTrace(parent, self, table)

        def primal(self, value):
            return value.lo if self.shown else self.known(value)

    carrier = Bounds()

    def run(p, *bounds, **params):
        args = [carriers.Interval(f32(a), f32(b)) for a, b in bounds]
        return lift_call(carrier, lambda *xs: p.bind(*xs, **params), args)

    run.table, run.carrier, run.carriers = table, carrier, carriers
    return run


@pytest.fixture
def double_p():
    p = Primitive("test.double", anonymous=True)
    p.def_abstract_eval(lambda x: x)
    p.def_decomposition(lambda x: add_p.bind(x, x))
    def_impl(p)(lambda x: x + x)
    return p


def test_a_rule_declines_and_the_derived_one_is_used(lift, double_p):
    asked = []

    def rule(carrier, args, params):
        asked.append(args)
        return NotImplemented

    lift.table.set(double_p, rule)
    lift.table.set(add_p, lift.carriers.interval_rules[add_p])
    assert lift(double_p, (1.0, 2.0)) == (2.0, 4.0) and len(asked) == 1


def test_a_rule_declines_where_nothing_can_be_derived(lift):
    lift.table.set(mul_p, lambda carrier, args, params: NotImplemented)
    message = (
        r"the rule of 'test.bounds' for 'toy.mul' \(.*test_rules_of_forward.*\) is not for these "
        r"operands at .*, and none can be derived. Give the primitive a decomposition"
    )
    with pytest.raises(MissingRule, match=message):
        lift(mul_p, (1.0, 2.0), (3.0, 4.0))


def test_what_a_rule_raises_names_the_rule(lift):
    @lift.table.register(mul_p)
    def _broken(carrier, args, params):
        return args[0].nothing

    with pytest.raises(AttributeError) as caught:
        lift(mul_p, (1.0, 2.0), (3.0, 4.0))
    (note,) = caught.value.__notes__
    assert note.startswith("In the rule of 'test.bounds' for 'toy.mul' (")
    assert "test_rules_of_forward" in note


def test_what_the_user_did_wrong_is_not_blamed_on_a_rule(lift):
    lift.table.set(mul_p, lambda carrier, args, params: mul_p.bind(args[0].lo, args[1].lo))

    def f(x):
        return mul_p.bind(x, np.ones((2, 2, 2), np.float32).reshape(-1)[:3])

    with pytest.raises(TypeError) as caught:
        lift_call(
            lift.carrier,
            lambda x: f(f(x)),
            [lift.carriers.Interval(np.ones(2, f32), np.ones(2, f32) + 1)],
        )
    assert not getattr(caught.value, "__notes__", [])


def test_results_are_checked_where_that_is_asked_for(lift, double_p):
    wide = lift.carriers.Interval(np.zeros(2, f32), np.ones(2, f32))
    lift.table.set(double_p, lambda carrier, args, params: wide)
    assert lift(double_p, (1.0, 2.0)) is wide
    message = (
        r"the rule of 'test.bounds' for 'test.double' \(.*\) returned a value of type f32\[2\] as "
        r"result 0 at .*; the type rule says f32\[\]"
    )
    with enable_checks(True), pytest.raises(TypeError, match=message):
        lift(double_p, (1.0, 2.0))


def test_an_effect_happens_once_on_what_the_carrier_shows(lift):
    EMITTED.clear()
    message = (
        r"'toy.emit' at .* has an effect on operand 0, of which Bounds has no untransformed "
        r"value. Define Bounds.primal, or add a rule for the primitive"
    )
    with pytest.raises(MissingRule, match=message):
        lift(emit_p, (1.0, 2.0))
    type(lift.carrier).shown = True
    assert lift(emit_p, (1.0, 2.0)) == [] and EMITTED == [1.0]


def test_who_wrote_a_rule(lift, double_p):
    table = lift.table
    assert table.origin(double_p) is None and not table.declares(double_p)
    table.get(mul_p)  # nothing to derive from
    assert table.origin(mul_p) is None
    table.set(mul_p, lambda carrier, args, params: args[0])
    assert table.declares(mul_p) and table.origin(mul_p).kind == "declared"
    named = Primitive("test.derived_for_origin")
    named.def_decomposition(lambda x: x)
    table.get(named)
    assert table.origin(named).kind == "derived" and not table.declares(named)
    carries = Primitive("test.carries", anonymous=True)
    carries.rules = {"test.bounds": lambda carrier, args, params: args[0]}
    assert table.declares(carries)
    assert table.origin(carries).module.endswith("test_rules_of_forward")
    assert table.origin(carries).line > 0
