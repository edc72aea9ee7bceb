"""Staging: what is recorded of constants, literals, closures, effects and names."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail_base.options import enable_checks
from dovetail_core import (
    ClosedJaxpr,
    IOEffect,
    IRError,
    Jaxpr,
    Literal,
    ShapedArray,
    StagedTracer,
    StagingTrace,
    UnexpectedTracerError,
    config,
    consts_to_inputs,
    enable_x64,
    eval_jaxpr,
    get_trace,
    stage,
    stage_closed,
    typeof,
)
from dovetail_core.rules.staging import definition_of
from dovetail_testing.toy import EMITTED, add_p, emit_p, mul_p, sin_p, sincos_p

F32 = ShapedArray((), np.float32)
VEC = ShapedArray((3,), np.float32)


def test_equations_inputs_and_outputs_are_recorded():
    ir = stage_closed(lambda x, y: [add_p.bind(x, y), x], [F32, F32], "f")
    assert ir.in_avals == [F32, F32] and ir.out_avals == [F32, F32]
    (eqn,) = ir.eqns
    assert eqn.primitive is add_p and eqn.invars == ir.jaxpr.invars
    assert ir.jaxpr.outvars == [eqn.outvars[0], ir.jaxpr.invars[0]]
    assert ir.jaxpr.name == "f" and ir.consts == []


def test_scalars_become_literals_that_keep_their_type():
    ir = stage_closed(lambda x: [mul_p.bind(x, 2.0), mul_p.bind(x, np.float32(2)), 3], [F32])
    weak, strong = (e.invars[1] for e in ir.eqns)
    assert isinstance(weak, Literal) and weak.aval is typeof(2.0) and weak.aval.weak_type
    assert isinstance(strong, Literal) and strong.aval is F32
    assert ir.jaxpr.outvars[0].aval is F32 and ir.jaxpr.outvars[2].val == 3


def test_arrays_become_constants_once_each():
    k = np.arange(3, dtype=np.float32)
    k.flags.writeable = False  # else the program holds a copy
    ir = stage_closed(lambda x: [add_p.bind(add_p.bind(x, k), k), k], [VEC])
    assert len(ir.consts) == 1 and ir.consts[0] is k
    constant = ir.jaxpr.constvars[0]
    assert ir.eqns[0].invars[1] is ir.eqns[1].invars[1] is ir.jaxpr.outvars[1] is constant


def test_a_program_holds_what_arrays_held_when_it_was_recorded():
    k = np.zeros(3, np.float32)

    def f(x):
        y = add_p.bind(add_p.bind(x, k), k)
        k[:] = 1
        return [add_p.bind(y, k), k]

    ir = stage_closed(f, [VEC])
    k[:] = 2
    assert [c.tolist() for c in ir.consts] == [[0.0] * 3, [1.0] * 3]
    assert not any(c.flags.writeable for c in ir.consts)


def test_temporary_constants_are_not_confused():
    def f(x):
        for i in range(20):  # each array could have the address of one that is gone
            x = add_p.bind(x, np.full(3, i, np.float32))
        return [x]

    ir = stage_closed(f, [VEC])
    assert [c[0] for c in ir.consts] == list(range(20))


def test_tracers_of_an_outer_trace_become_constants():
    def outer(x):
        y = sin_p.bind(x)
        jaxpr, consts = stage(lambda z: [add_p.bind(z, y)], [F32])
        assert consts[0] is y and len(jaxpr.constvars) == 1
        return eval_jaxpr(jaxpr, consts, x)

    assert [e.primitive.name for e in stage_closed(outer, [F32]).eqns] == ["toy.sin", "toy.add"]


def test_a_program_that_must_be_closed_may_not_close_over_tracers():
    def outer(x):
        stage_closed(lambda z: [add_p.bind(z, x)], [F32], "a rule of mine")

    with pytest.raises(UnexpectedTracerError) as e:
        stage_closed(outer, [F32])
    assert str(e.value) == (
        "a rule of mine closes over a traced value of type f32[]. Pass it as an argument instead."
    )


def test_effects_are_recorded_and_nothing_runs():
    EMITTED.clear()
    ir = stage_closed(lambda x: emit_p.bind(x) + [x], [F32])
    assert ir.effects == {IOEffect("emit")} == ir.eqns[0].effects and EMITTED == []
    eval_jaxpr(ir.jaxpr, [], np.float32(2))
    assert EMITTED == [2]


def test_multiple_results_are_a_list():
    def f(x):
        both = sincos_p.bind(x)
        assert isinstance(both, list) and len(both) == 2
        return both

    ir = stage_closed(f, [F32])
    assert ir.eqns[0].outvars == ir.jaxpr.outvars


def test_programs_depend_on_x64():
    with enable_x64(True):
        assert stage_closed(lambda x: [1.0], [F32]).out_avals == [typeof(1.0)]
        assert typeof(1.0).dtype == np.float64


def test_high_types_mark_the_program():
    class High(type(F32).__base__):
        is_high = True

        def str_short(self):
            return "high"

    assert stage_closed(lambda x: [], [High()]).is_high
    assert not stage_closed(lambda x: [], [F32]).is_high


def test_constants_become_inputs():
    k = np.arange(3, dtype=np.float32)
    jaxpr, _ = stage(lambda x: [add_p.bind(x, k)], [VEC])
    moved = consts_to_inputs(jaxpr)
    assert moved.consts == [] and len(moved.jaxpr.invars) == 2
    np.testing.assert_array_equal(eval_jaxpr(moved.jaxpr, [], k, k)[0], k + k)
    assert consts_to_inputs(moved.jaxpr).jaxpr is moved.jaxpr


def test_operations_on_constants_only_are_recorded_too():
    assert len(stage_closed(lambda: [sin_p.bind(np.float32(1))], []).eqns) == 1


def test_a_trace_says_what_it_traces():
    assert StagingTrace(get_trace(), "f").what == "the trace of 'f'"
    assert StagingTrace(get_trace()).what == "a trace"


def test_a_shape_error_appears_at_the_users_call():
    with pytest.raises(TypeError, match=r"toy.add takes .* got f32\[3\], f32\[2\]"):
        stage_closed(lambda x, y: [add_p.bind(x, y)], [VEC, ShapedArray((2,), np.float32)])


def test_staged_programs_are_checked_where_asked(monkeypatch):
    def broken(x):
        y = sin_p.bind(x)
        y._trace.eqns.clear()
        return [y]

    stage_closed(broken, [F32])
    with enable_checks(True), pytest.raises(IRError, match="is not valid after tracing: output 0"):
        stage_closed(broken, [F32])
    assert not config.enable_checks


def test_the_number_of_constants_must_fit():
    jaxpr, _ = stage(lambda: [np.ones(3)], [])
    with pytest.raises(ValueError, match="the program has 1 constants, 0 values given"):
        ClosedJaxpr(jaxpr)
    assert isinstance(jaxpr, Jaxpr)


def superseding(x, keeps):
    """``x + x`` said again from what it was made of; the sum is left out if nothing uses it."""
    double = add_p.bind(x, x)
    square = mul_p.bind(double, double)
    result = definition_of(double)
    assert result is not None and result[1].primitive is add_p
    assert definition_of(x) is None and definition_of(1.0) is None
    trace, eqn = result
    trace.supersede(double)
    again = StagedTracer(trace, eqn.invars[0])
    return [sin_p.bind(again), *([square] if keeps else [])]


def test_what_was_superseded_is_left_out_unless_it_is_used():
    gone = stage_closed(lambda x: superseding(x, keeps=False)[:1], [F32])
    assert [e.primitive for e in gone.eqns] == [add_p, mul_p, sin_p]  # mul_p was not superseded
    kept = stage_closed(lambda x: superseding(x, keeps=True), [F32])
    assert [e.primitive for e in kept.eqns] == [add_p, mul_p, sin_p]

    def unused(x):
        double = add_p.bind(x, x)
        wider = mul_p.bind(double, x)
        trace, _ = definition_of(double)
        trace.supersede(double)
        trace.supersede(wider)
        return [sin_p.bind(x)]

    program = stage_closed(unused, [F32])
    assert [e.primitive for e in program.eqns] == [sin_p]
    assert eval_jaxpr(program.jaxpr, [], np.float32(2)) == [np.sin(np.float32(2))]


def test_a_value_of_an_outer_trace_has_no_definition_here():
    def outer(x):
        double = add_p.bind(x, x)

        def inner(y):
            assert definition_of(double) is None
            return [mul_p.bind(y, y)]

        stage(inner, [F32])
        return [double]

    stage_closed(outer, [F32])
