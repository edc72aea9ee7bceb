"""Programs as values: equality by structure, hashing, replacing, what is kept of effects."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dovetail_core import (
    ClosedJaxpr,
    Eqn,
    IOEffect,
    Jaxpr,
    Literal,
    Primitive,
    ReadEffect,
    ShapedArray,
    Var,
    stage_closed,
    typeof,
)
from dovetail_core.ir.programs import (
    equal_literals,
    same_constant,
    same_param,
    subprograms,
    walk_programs,
)
from dovetail_testing.toy import add_p, emit_p, mul_p, sin_p, sum_p
from dovetail_testing.toy_control import call_p

F32 = ShapedArray((), np.float32)
VEC = ShapedArray((3,), np.float32)


def program(scale=2.0, p=sin_p, k=None):
    k = np.arange(3, dtype=np.float32) if k is None else k
    return stage_closed(lambda x, y: [add_p.bind(p.bind(mul_p.bind(x, scale)), k), y], [VEC, VEC])


def test_programs_are_equal_by_structure():
    a, b = program(), program()
    assert a is not b and a == b and hash(a) == hash(b) and len({a, b}) == 1
    assert a.jaxpr == b.jaxpr and hash(a.jaxpr) == hash(b.jaxpr)
    assert a != program(scale=3.0)
    assert a != program(scale=np.float32(2.0))
    assert a != program(k=np.ones(3, np.float32)) and a.jaxpr == program(k=np.ones(3, "f4")).jaxpr
    assert a != a.jaxpr and a != "text"


def test_wiring_matters():
    one = stage_closed(lambda x, y: [add_p.bind(x, y)], [F32, F32])
    other = stage_closed(lambda x, y: [add_p.bind(y, x)], [F32, F32])
    swapped = stage_closed(lambda x, y: [y, x], [F32, F32])
    assert one != other and hash(one) == hash(other)
    assert swapped != stage_closed(lambda x, y: [x, y], [F32, F32])


def test_types_parameters_effects_and_counts_matter():
    f = lambda **params: stage_closed(lambda x: [sum_p.bind(x, **params)], [VEC])  # noqa: E731
    assert f(axes=(0,)) == f(axes=(0,)) != f(axes=())
    assert stage_closed(lambda x: [x], [VEC]) != stage_closed(lambda x: [x], [F32])
    with_effect = stage_closed(lambda x: emit_p.bind(x) + [x], [F32])
    e = with_effect.eqns[0]
    silent = with_effect.jaxpr.replace(eqns=[e.replace(effects=frozenset())])
    assert with_effect.jaxpr != silent and with_effect.effects and not silent.effects
    assert with_effect != stage_closed(lambda x: [x], [F32])
    mut = with_effect.jaxpr.replace(mut_types={0: VEC})
    assert mut != with_effect.jaxpr and mut.effects == with_effect.effects


def test_programs_inside_programs_are_compared_too():
    f = lambda p: stage_closed(lambda x: call_p.bind(x, program=p), [VEC])  # noqa: E731
    inner = lambda s: stage_closed(lambda x: [mul_p.bind(x, s)], [VEC])  # noqa: E731
    assert f(inner(2.0)) == f(inner(2.0)) != f(inner(3.0))


def test_names_and_source_lines_do_not_count():
    f = lambda name: stage_closed(lambda x: [sin_p.bind(x)], [F32], name)  # noqa: E731
    first = f("one")
    assert first == f("another")


@pytest.mark.parametrize("x", [0.0, -0.0, math.inf, math.nan, 1.5])
def test_literals_are_equal_to_the_last_bit(x):
    lit = lambda v: Literal(v, typeof(v))  # noqa: E731
    assert equal_literals(lit(x), lit(float(str(x))))
    assert equal_literals(Literal(np.float64(x), F32), Literal(np.float32(x), F32))
    assert not equal_literals(lit(x), lit(2.5)) and not equal_literals(lit(x), lit(np.float32(x)))
    if x == 0:
        assert not equal_literals(lit(x), lit(-x))


def test_integer_literals():
    lit = lambda v: Literal(v, typeof(v))  # noqa: E731
    assert equal_literals(lit(10**30), lit(10**30)) and not equal_literals(lit(3), lit(10**30))
    assert not equal_literals(lit(1), lit(True)) and not equal_literals(lit(1), lit(1.0))


def test_constants_are_compared_by_type_and_bits_whatever_class_holds_them():
    x = np.array([1.0, -0.0], np.float32)
    assert same_constant(x, x.copy()) and same_constant(x, x.astype(np.float64))
    assert not same_constant(x, np.abs(x)) and not same_constant(x, x.reshape(2, 1))
    assert same_constant(np.float32(2), np.array(2, np.float32))
    assert not same_constant(2.0, np.float32(2))  # a weak type and a strong one


def test_traced_constants_are_equal_by_identity():
    def f(x, y):
        assert same_constant(x, x) and not same_constant(x, y)
        assert not same_constant(x, np.float32(1)) and not same_constant(np.float32(1), x)
        return []

    stage_closed(f, [F32, F32])


def test_parameters_are_compared_by_type_and_bits():
    nan, also_nan = float("nan"), float("nan")
    same = [
        (nan, also_nan),
        ((1, (nan, "a")), (1, (also_nan, "a"))),
        ({"a": [nan]}, {"a": [also_nan]}),
        (np.float32(1), np.float32(1)),
        (np.arange(3), np.arange(3)),
        (np.dtype("f4"), np.dtype(np.float32)),
        (None, None),
    ]
    different = [
        (0.0, -0.0),
        (1, 1.0),
        (1, True),
        (0, None),
        ((1, 2), (1, 2, 3)),
        ((1,), [1]),
        (1.0, np.float64(1.0)),
        (complex(0.0, 0.0), complex(0.0, -0.0)),
        ("a", b"a"),
        ({"a": 1}, {"b": 1}),
        (np.arange(3), np.arange(4)),
    ]
    assert all(same_param(a, b) and same_param(b, a) for a, b in same)
    assert not any(same_param(a, b) or same_param(b, a) for a, b in different)


def test_replacing_equations_collects_effects_again():
    ir = stage_closed(lambda x: emit_p.bind(x) + [sin_p.bind(x)], [F32]).jaxpr
    assert ir.replace(eqns=ir.eqns[1:]).effects == frozenset()
    assert ir.replace(name="g").effects == {IOEffect("emit")} and ir.replace(name="g").name == "g"
    assert ir.eqns[0].replace(source=None).source is None


def test_effects_on_inputs_are_renumbered():
    read = Primitive("test.read")
    read.def_effectful_abstract_eval(lambda x: (x, {ReadEffect(0)}))
    ir = stage_closed(lambda x, y: [read.bind(y), read.bind(sin_p.bind(x))], [F32, F32])
    assert ir.eqns[0].effects == {ReadEffect(0)}
    assert ir.effects == {ReadEffect(1)}  # the second is on a value made inside


def test_programs_in_a_parameter():
    a, b = program(), program().jaxpr
    assert list(subprograms({"x": (a, [b, 1]), "y": "text"})) == [a, b]


def test_parts_have_short_descriptions():
    ir = program()
    assert repr(ir.jaxpr.invars[0]) == "Var:f32[3]"
    assert repr(ir.eqns[0]) == "Eqn(toy.mul: [Var:f32[3], 2.0:f32[]~] -> [Var:f32[3]])"
    assert str(ir) == repr(ir) and str(ir).startswith("{ lambda ")
    assert str(ir.jaxpr).startswith("{ lambda[open=True] ")


def test_closed_programs_pass_on_what_their_program_says():
    ir = stage_closed(lambda x: emit_p.bind(x) + [x], [F32])
    assert isinstance(ir, ClosedJaxpr) and isinstance(ir.jaxpr, Jaxpr)
    assert ir.eqns is ir.jaxpr.eqns and ir.effects is ir.jaxpr.effects and not ir.is_high
    assert isinstance(ir.eqns[0], Eqn) and isinstance(ir.jaxpr.invars[0], Var)


def test_a_walk_meets_every_program_once():
    p = Primitive("test.held", multiple_results=True, anonymous=True)
    inner = ClosedJaxpr(Jaxpr([], [], [], []))
    middle = ClosedJaxpr(
        Jaxpr([], [], [], [Eqn(p, [], [], {"a": inner, "b": (inner,)}, frozenset(), None)])
    )
    outer = Jaxpr([], [], [], [Eqn(p, [], [], {"body": middle}, frozenset(), None)])
    assert [id(x) for x in walk_programs(outer)] == [id(outer), id(middle), id(inner)]


def test_what_is_derived_from_a_program_is_made_once_also_where_it_is_none():
    program, made = ClosedJaxpr(Jaxpr([], [], [], [])), []
    for _ in range(2):
        assert program.memo("key", lambda: made.append(1)) is None
    assert made == [1] and program.memo("other", lambda: 7) == 7
