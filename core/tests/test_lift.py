"""Lifted values through operations, functions and programs, without control flow."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from dovetail_core import (
    EVAL,
    Carrier,
    LiftTracer,
    MissingMethod,
    MissingRule,
    Primitive,
    RuleTable,
    ShapedArray,
    get_trace,
    lift_call,
    lift_function,
    lift_program,
    stage_closed,
)
from dovetail_testing.toy import (
    add_p,
    less_p,
    mul_p,
    neg_p,
    sin_p,
    sincos_p,
    square_p,
)
from dovetail_testing.toy_control import cond_p

F32 = ShapedArray((), np.float32)


@pytest.fixture
def interval(carriers):
    return carriers.Interval


@pytest.fixture
def bounds(carriers):
    return lambda f, *args: lift_call(carriers.Intervals(), f, args)


def test_rules_are_applied_to_lifted_values(bounds, interval):
    result = bounds(
        lambda x, y: add_p.bind(neg_p.bind(x), y), interval(1.0, 2.0), interval(3.0, 3.0)
    )
    assert result == (1.0, 2.0)
    assert get_trace() is EVAL


def test_untransformed_operations_are_not_lifted(bounds, interval):
    seen = []

    def f(x):
        y = sin_p.bind(np.float32(0.5))
        seen.append(y)
        return add_p.bind(x, y)

    bounds(f, interval(1.0, 2.0))
    assert isinstance(seen[0], np.floating)


def test_points_stay_plain_so_that_python_may_look_at_them(bounds, interval):
    def f(x, y):
        assert not isinstance(y, LiftTracer)
        return add_p.bind(x, y) if y > 2 else x

    x = 3.0
    assert bounds(f, interval(1.0, 2.0), interval(x, x)) == (4.0, 5.0)


def test_lists_of_results(bounds, interval):
    result = bounds(lambda x: [x, 1.0, *sincos_p.bind(x)], interval(1.0, 2.0))
    assert result == [(1.0, 2.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, 1.0)]


def test_an_empty_rule_follows_from_the_decomposition(bounds, interval, carriers):
    assert bounds(square_p.bind, interval(-1.0, 2.0)) == (-2.0, 4.0)
    assert carriers.interval_rules.origins[square_p].kind == "derived"


def test_an_error_for_a_row_without_rule_or_decomposition(bounds, interval):
    lacking_p = Primitive("test.lacking")
    lacking_p.def_abstract_eval(lambda x: x)
    with pytest.raises(
        MissingRule, match=r"'test\.interval' has no rule for primitive 'test\.lacking' at"
    ):
        bounds(lacking_p.bind, interval(1.0, 2.0))
    assert get_trace() is EVAL


class Bare(Carrier):
    """A carrier that says nothing."""


OPTIONAL = {"function", "primal", "branch"}
METHODS = [n for n, f in vars(Carrier).items() if inspect.isfunction(f) and n not in OPTIONAL]


@pytest.mark.parametrize("name", METHODS)
def test_an_error_for_a_method_that_a_carrier_lacks(name):
    arguments = [None] * (len(inspect.signature(getattr(Bare, name)).parameters) - 1)
    with pytest.raises(MissingMethod) as e:
        getattr(Bare(), name)(*arguments)
    text = str(e.value)
    assert text.startswith(f"Bare ({__name__}) has no method {name}, which is needed ")
    assert "test_lift.py:" in text and f"Define Bare.{name}(" in text
    assert isinstance(e.value, NotImplementedError)


def test_a_carrier_without_a_method_that_a_lifted_branch_needs(carriers, interval):
    class Partial(carriers.Intervals):
        select = Carrier.select

    branches = (
        stage_closed(lambda x: [sin_p.bind(x)], [F32]),
        stage_closed(lambda x: [neg_p.bind(x)], [F32]),
    )

    def f(x):
        return cond_p.bind(less_p.bind(x, np.float32(1.5)), x, branches=branches)

    with pytest.raises(MissingMethod, match=r"^Partial .* has no method select, which is ne"):
        lift_call(Partial(), f, [interval(1.0, 2.0)])


def test_transformations_nest_and_each_sees_its_own_values(carriers, interval):
    outer = carriers.Intervals()

    def f(x):
        inner = lift_call(carriers.Intervals(), lambda y: mul_p.bind(x, y), [interval(2.0, 3.0)])
        return list(inner)

    lo, hi = lift_call(outer, f, [interval(10.0, 11.0)])
    assert lo.lo == 20.0 and hi.hi == 33.0


def test_lifted_tracers_know_their_type_and_not_their_value(bounds, interval):
    def f(x):
        assert x.aval is F32 and x.shape == ()
        with pytest.raises(TypeError, match="used as a Python condition"):
            bool(less_p.bind(x, np.float32(1.5)))
        return x

    bounds(f, interval(np.float32(1.0), np.float32(2.0)))


def test_a_decided_predicate_of_a_lifted_value_is_looked_at_but_not_dropped(carriers):
    trace = carriers.Intervals().trace(EVAL)
    tracer = LiftTracer(trace, F32, carriers.Interval(3.0, 3.0))
    assert bool(tracer)
    with pytest.raises(TypeError, match=r"is converted to a Python number .* would be lost"):
        float(tracer)


def test_a_program_on_the_arrays_of_lifted_values(carriers):
    ir = stage_closed(lambda x, y: [mul_p.bind(x, y), neg_p.bind(y)], [F32, F32], "f")
    carrier = carriers.Intervals()
    lifted, outs = lift_program(carrier, ir, ("range", "point"))
    assert outs == ("range", "point")  # nothing is lifted about the negative of a point
    assert len(lifted.in_avals) == 3 and len(lifted.out_avals) == 3
    assert lifted.jaxpr.name == "f"


def test_lifted_programs_are_remembered_with_the_program(carriers):
    ir = stage_closed(lambda x: [neg_p.bind(x)], [F32])
    a, b = carriers.Intervals(), carriers.Intervals()
    assert lift_program(a, ir, ("range",)) is lift_program(b, ir, ("range",))
    assert lift_program(a, ir, ("range",)) is not lift_program(a, ir, ("point",))

    class Other(carriers.Intervals):
        """Another transformation, with an equal key."""

    assert lift_program(Other(), ir, ("range",)) is not lift_program(a, ir, ("range",))


def test_remembered_programs_are_forgotten_when_a_rule_changes(carriers):
    table, p = RuleTable("test.changing"), Primitive("test.changing")
    p.def_abstract_eval(lambda x: x)
    table.set(p, lambda carrier, args, params: args[0])

    class Changing(carriers.Intervals):
        def trace(self, parent):
            trace = super().trace(parent)
            trace.table = table
            return trace

    ir = stage_closed(lambda x: [p.bind(x)], [F32])
    table.fill()
    before, _ = lift_program(Changing(), ir, ("range",))
    assert before.eqns == []
    table.set(p, lambda c, args, params: carriers._neg(c, args, params), override=True)
    after, _ = lift_program(Changing(), ir, ("range",))
    assert [e.primitive.name for e in after.eqns] == ["toy.neg", "toy.neg"]


def test_outputs_are_promoted_to_what_is_wanted(carriers):
    ir = stage_closed(lambda x: [x], [F32])
    lifted, outs = lift_program(carriers.Intervals(), ir, ("point",), ("range",))
    assert outs == ("range",) and len(lifted.out_avals) == 2
    assert lifted.jaxpr.outvars[0] is lifted.jaxpr.outvars[1]


def test_functions_from_lifted_to_lifted_values(carriers):
    def swap(x, y):
        return [y, x]

    program, outs = lift_function(
        carriers.Intervals(), swap, [F32, F32], ("range", "point"), None, "swap"
    )
    assert outs == ("point", "range") and len(program.in_avals) == 3


def test_tracers_of_a_failed_call_are_over(carriers, interval):
    kept = []

    def f(x):
        kept.append(x)
        raise KeyError

    with pytest.raises(KeyError):
        lift_call(carriers.Intervals(), f, [interval(1.0, 2.0)])
    assert kept[0]._trace.ended
