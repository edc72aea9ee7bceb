"""Dead-code elimination: default and own rules, effects, constants, inputs that stay."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail_base.options import enable_checks
from dovetail_core import IRError, ShapedArray, dce_closed, dce_jaxpr, dce_rules, stage_closed
from dovetail_testing.toy import add_p, cos_p, emit_p, mul_p, sin_p, sincos_p

F32 = ShapedArray((), np.float32)


def names(jaxpr):
    return [e.primitive.name for e in jaxpr.eqns]


def f(x, y, z):
    a = sin_p.bind(x)
    b = cos_p.bind(y)
    return [add_p.bind(a, 1.0), mul_p.bind(b, z)]


def test_what_no_used_output_needs_goes():
    ir = stage_closed(f, [F32] * 3).jaxpr
    first, left = dce_jaxpr(ir, [True, False])
    assert names(first) == ["toy.sin", "toy.add"] and left == [True, False, False]
    assert len(first.invars) == 1 and len(first.outvars) == 1
    second, left = dce_jaxpr(ir, [False, True])
    assert names(second) == ["toy.cos", "toy.mul"] and left == [False, True, True]
    both, left = dce_jaxpr(ir, [True, True])
    assert both == ir and left == [True] * 3
    nothing, left = dce_jaxpr(ir, [False, False])
    assert names(nothing) == [] and left == [False] * 3


def test_inputs_stay_where_asked():
    ir = stage_closed(f, [F32] * 3).jaxpr
    reduced, left = dce_jaxpr(ir, [True, False], keep_inputs=True)
    assert left == [True] * 3 and reduced.invars == ir.invars
    reduced, left = dce_jaxpr(ir, [True, False], keep_inputs=[False, True, False])
    assert left == [True, True, False] and reduced.invars == ir.invars[:2]


def test_effects_are_kept():
    ir = stage_closed(lambda x, y: emit_p.bind(sin_p.bind(x)) + [y], [F32, F32]).jaxpr
    reduced, left = dce_jaxpr(ir, [False])
    assert names(reduced) == ["toy.sin", "toy.emit"] and left == [True, False]
    assert reduced.effects == ir.effects


def test_rows_may_reduce_themselves():
    ir = stage_closed(lambda x: sincos_p.bind(x), [F32]).jaxpr
    assert names(dce_jaxpr(ir, [False, True])[0]) == ["toy.cos"]
    assert names(dce_jaxpr(ir, [True, False])[0]) == ["toy.sin"]
    assert names(dce_jaxpr(ir, [True, True])[0]) == ["toy.sincos"]


def test_literal_outputs_and_outputs_that_are_inputs():
    ir = stage_closed(lambda x, y: [1.0, y, y], [F32, F32]).jaxpr
    reduced, left = dce_jaxpr(ir, [True, False, True])
    assert reduced.outvars[0].val == 1.0 and left == [False, True]


def test_constants_that_nothing_uses_go_from_a_closed_program():
    j, k = np.ones(3, np.float32), np.zeros(3, np.float32)
    vec = ShapedArray((3,), np.float32)
    ir = stage_closed(lambda x: [add_p.bind(x, j), add_p.bind(x, k)], [vec])
    reduced, left = dce_closed(ir, [False, True])
    np.testing.assert_array_equal(reduced.consts, [k])
    assert len(reduced.jaxpr.constvars) == 1 and left == [True]
    assert len(dce_jaxpr(ir.jaxpr, [False, True])[0].constvars) == 2


def test_final_types_of_mutable_inputs_move_with_them():
    ir = stage_closed(f, [F32] * 3).jaxpr.replace(mut_types={1: F32, 2: F32})
    reduced, _ = dce_jaxpr(ir, [False, True])
    assert reduced.mut_types == {0: F32, 1: F32}
    assert dce_jaxpr(ir, [True, False])[0].mut_types == {}


def test_results_of_a_bad_rule_are_found_where_asked():
    p = sin_p
    dce_rules.set(p, lambda used, eqn: ([False], eqn), override=True)
    try:
        ir = stage_closed(lambda x: [sin_p.bind(cos_p.bind(x))], [F32]).jaxpr
        with (
            enable_checks(True),
            pytest.raises(IRError, match="after dead-code elimination: operand 0"),
        ):
            dce_jaxpr(ir, [True])
    finally:
        del dce_rules.rules[p], dce_rules.origins[p]
