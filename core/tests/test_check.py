"""The checker: each rule of the IR broken once, and the text that says so."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail_core import (
    AbstractValue,
    ClosedJaxpr,
    Eqn,
    IOEffect,
    IRError,
    Jaxpr,
    Kind,
    Literal,
    Primitive,
    Region,
    RegionInterface,
    ShapedArray,
    Var,
    check_jaxpr,
    stage_closed,
)
from dovetail_testing import toy, toy_control
from dovetail_testing.toy import add_p, emit_p, sin_p
from dovetail_testing.toy_control import call_p, scan_p

F32 = ShapedArray((), np.float32)
VEC = ShapedArray((3,), np.float32)
SOURCE = stage_closed(lambda x: [sin_p.bind(x)], [F32]).eqns[0].source
a, b, v = Var(F32), Var(F32), Var(VEC)


def eqn(primitive, invars, outvars, effects=frozenset(), **params):
    return Eqn(primitive, invars, outvars, params, frozenset(effects), SOURCE)


def broken(*eqns, ins=(a,), outs=(), **fields):
    """The error for a program of these equations."""
    with pytest.raises(IRError) as e:
        check_jaxpr(Jaxpr([], ins, outs, eqns, **fields))
    return str(e.value)


PLACE = f"equation 0 of the program at {SOURCE}, "


def test_programs_that_staging_makes_are_valid():
    for s in [*toy.samples(), *toy_control.samples()]:
        check_jaxpr(stage_closed(lambda *args, s=s: s.flat(*args), s.avals))
    check_jaxpr(Jaxpr([a], [b], [a, b, Literal(1.0, F32)], []))


def test_use_before_definition():
    assert broken(eqn(sin_p, [b], [Var(F32)])) == (
        f"{PLACE}'b:f32[] = toy.sin ?' is not valid: operand 0 (of type f32[]) is not defined here"
    )
    late = broken(eqn(add_p, [a, b], [Var(F32)]), eqn(sin_p, [a], [b]))
    assert late.startswith(PLACE) and "operand 1 (of type f32[]) is not defined here" in late


def test_an_output_that_is_not_defined():
    assert broken(outs=[a, b], name="f") == (
        "the program 'f' is not valid: output 1 (of type f32[]) is not defined here"
    )


def test_double_definition():
    assert "a result of type f32[] is defined a second time" in broken(eqn(sin_p, [a], [a]))
    assert "a result of type f32[] is defined a second time" in broken(
        eqn(toy.sincos_p, [a], [b, b])
    )
    assert broken(ins=(a, a)) == (
        "the program is not valid: an input of type f32[] is defined a second time"
    )


def test_types_that_the_rule_does_not_give():
    assert broken(eqn(sin_p, [a], [v])) == (
        f"{PLACE}'b:f32[3] = toy.sin a' is not valid: its results are of types (f32[3]), its rule "
        "says (f32[])"
    )
    assert "types (f32[]), its rule says (f32[], f32[])" in broken(eqn(toy.sincos_p, [a], [b]))
    weak = Var(ShapedArray((), np.float32, True))
    assert "types (f32[]~), its rule says (f32[])" in broken(eqn(sin_p, [a], [weak]))


def test_a_type_rule_that_refuses():
    text = broken(eqn(sin_p, [a, a], [b]), eqn(add_p, [a, Var(F32)], []))
    assert "its type rule refuses it" not in text  # toy.sin joins any number of operands
    bad = broken(eqn(toy.sum_p, [a], [b], axes=(0,)))
    assert "toy.sum[axes=(0,)] a' is not valid: its type rule refuses it: TypeError: toy.sum" in bad


def test_effects_that_the_rule_does_not_give():
    assert "its effects are {}, its rule says {IOEffect(name='emit')}" in broken(
        eqn(emit_p, [a], [])
    )
    assert "its effects are {IOEffect(name='io')}, its rule says {}" in broken(
        eqn(sin_p, [a], [b], {IOEffect()})
    )


def test_effects_of_the_program():
    emit = eqn(emit_p, [a], [], {IOEffect("emit")})
    check_jaxpr(Jaxpr([], [a], [], [emit]))
    assert broken(emit, effects=frozenset()) == (
        "the program is not valid: its effects are {}, its equations' {IOEffect(name='emit')}"
    )


def test_literals_are_scalars():
    text = broken(outs=[Literal(1.0, VEC)])
    assert "output 0 is a literal of type f32[3]; literals are scalars" in text


class High(AbstractValue):
    is_high = True

    def str_short(self):
        return "high"


def test_high_programs_say_so():
    assert "something high occurs in it, but is_high is not set" in broken(ins=[Var(High())])
    check_jaxpr(Jaxpr([], [Var(High())], [], [], is_high=True))
    p = Primitive("test.high")
    p.def_abstract_eval(lambda x: x)
    p.is_high = lambda: True
    assert "something high" in broken(eqn(p, [a], [b]))


def test_final_types_of_inputs_that_do_not_exist():
    assert "mut_types speaks of input 1, which does not exist" in broken(mut_types={1: F32})


def test_sub_programs_are_checked():
    bad = ClosedJaxpr(Jaxpr([], [a], [b], [], name="inner"))
    assert broken(eqn(call_p, [a], [Var(F32)], program=bad)) == (
        "the program 'inner' is not valid: output 0 (of type f32[]) is not defined here"
    )
    holder = Primitive("test.holder", multiple_results=True)
    holder.def_abstract_eval(lambda x, things: [])
    assert "the program 'inner'" in broken(eqn(holder, [a], [], things=({"deep": [bad]},)))


def test_sub_programs_must_fit_what_regions_connect():
    step = stage_closed(lambda c, x: [add_p.bind(c, x), c], [F32, F32])
    params = {"program": step, "consts": 0, "carry": 1, "length": 3}
    check_jaxpr(Jaxpr([], [a, v], [], [eqn(scan_p, [a, v], [Var(F32), Var(VEC)], **params)]))
    text = broken(eqn(scan_p, [a, a], [Var(F32), Var(VEC)], **params))
    assert "operand 1 is of type f32[], sub-program 0 has f32[] for slices of it" in text


def interface(region):
    return RegionInterface((region,), (Kind.CONSTANT,), (Kind.PLAIN,), lambda *args: {})


def with_regions(result):
    p = Primitive("test.regions", multiple_results=True)
    p.def_abstract_eval(lambda *types: [F32])
    p.def_regions(lambda params: result)
    return p


@pytest.mark.parametrize(
    ("operands", "results", "message"),
    [
        ((), (0,), "sub-program 0 takes 1 operands, its region names 0"),
        ((0,), (0, 1), "sub-program 0 gives 1 results, its region names 2"),
        ((1,), (0,), "the region of sub-program 0 names operand 1 of 1"),
        ((0,), (2,), "the region of sub-program 0 names result 2 of 1"),
    ],
)
def test_regions_that_do_not_fit_their_sub_programs(operands, results, message):
    inner = stage_closed(lambda x: [x], [F32])
    p = with_regions(interface(Region(inner, operands, results)))
    assert message in broken(eqn(p, [a], [b]))


def test_types_across_regions():
    inner = stage_closed(lambda x: [x], [ShapedArray((), np.int32)])
    p = with_regions(interface(Region(inner, (0,), (0,))))
    assert "operand 0 is of type f32[], sub-program 0 has i32[] for it" in broken(eqn(p, [a], [b]))
    weak = stage_closed(lambda x: [x], [ShapedArray((), np.float32, True)])
    q = with_regions(interface(Region(weak, (0,), (0,))))
    check_jaxpr(Jaxpr([], [a], [], [eqn(q, [a], [b])]))  # weak types may differ


def test_the_message_names_what_made_the_program():
    with pytest.raises(IRError, match=r"is not valid after the pass 'x': output 0"):
        check_jaxpr(Jaxpr([], [], [a], []), "the pass 'x'")


def test_programs_of_any_depth_are_checked_without_recursion():
    inner = stage_closed(lambda x: [x], [F32])
    for _ in range(2000):
        inner = ClosedJaxpr(Jaxpr([], [a], [b], [eqn(call_p, [a], [b], program=inner)]))
    check_jaxpr(inner)
