"""The text of programs, as people read it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest

from dovetail_core import (
    ClosedJaxpr,
    Jaxpr,
    Primitive,
    ReadEffect,
    ShapedArray,
    Var,
    parse_ir,
    print_ir,
    printed_constants,
    register_parameter,
    stage,
    stage_closed,
)
from dovetail_testing.toy import add_p, emit_p, mul_p, neg_p, sin_p, sincos_p, sum_p
from dovetail_testing.toy_control import call_p, cond_p, scan_p
from dovetail_text import syntax as notation
from dovetail_text.printer import _letters, print_eqn

F32 = ShapedArray((), np.float32)
VEC = ShapedArray((3,), np.float32)


def text(f, *avals, **kw):
    return print_ir(stage_closed(f, avals, **kw))


def test_a_small_program_is_one_line():
    result = text(lambda x, y: [mul_p.bind(x, y)], VEC, F32)
    assert result == "{ lambda ; a:f32[3] b:f32[]. let c:f32[3] = toy.mul a b in (c,) }"
    assert text(lambda x: [x], VEC) == "{ lambda ; a:f32[3]. let  in (a,) }"
    assert text(list) == "{ lambda ;. let  in () }"


def test_a_program_with_everything():
    k, big = np.arange(3, dtype=np.float32), np.zeros(100, np.float32)

    def step(carry, x):
        return [add_p.bind(carry, mul_p.bind(x, np.float32(0.1))), sin_p.bind(carry)]

    step = stage_closed(step, [F32, F32], "step")
    negate = stage_closed(lambda x: [neg_p.bind(x)], [F32])
    square = stage_closed(lambda x: [neg_p.bind(mul_p.bind(x, x))], [F32])

    def f(x, y):
        w = add_p.bind(mul_p.bind(x, 2.0), k)
        emit_p.bind(w)
        c, ys = scan_p.bind(y, w, program=step, consts=0, carry=1, length=3)
        c, ys = scan_p.bind(c, ys, program=step, consts=0, carry=1, length=3)
        s, _ = sincos_p.bind(ys)
        (d,) = cond_p.bind(np.int32(1), c, branches=(negate, square))
        return [s, d, 1.0, sum_p.bind(big, axes=(0,)), True]

    assert (
        text(f, VEC, F32)
        == """\
let
  step = { lambda ; a:f32[] b:f32[]. let
      c:f32[] = toy.mul b 0.1:f32[]
      d:f32[] = toy.add a c
      e:f32[] = toy.sin a
    in (d, e) }
in
{ lambda f:f32[3]=[0.0, 1.0, 2.0] g:f32[100]=#0 ; h:f32[3] i:f32[]. let
    j:f32[3] = toy.mul h 2.0:f32[]~
    k:f32[3] = toy.add j f
    toy.emit k ! io('emit')
    l:f32[] m:f32[3] = toy.scan[program=step consts=0 carry=1 length=3] i k
    n:f32[] o:f32[3] = toy.scan[program=step consts=0 carry=1 length=3] l m
    p:f32[3] _:f32[3] = toy.sincos o
    q:f32[] = toy.cond[
      branches=(
        { lambda ; r:f32[]. let s:f32[] = toy.neg r in (s,) },
        { lambda ; t:f32[]. let
            u:f32[] = toy.mul t t
            v:f32[] = toy.neg u
          in (v,) },
      )
    ] 1:i32[] n
    w:f32[] = toy.sum[axes=(0,)] g
  in (p, q, 1.0:f32[]~, w, True:bool[]) }"""
    )


def test_constants_are_written_in_place_while_they_are_small():
    k = np.arange(4, dtype=np.int32).reshape(2, 2)
    ir = stage_closed(lambda: [k], [])
    assert print_ir(ir).startswith("{ lambda a:i32[2,2]=[[0, 1], [2, 3]] ;. let")
    assert print_ir(ir, inline=3).startswith("{ lambda a:i32[2,2]=#0 ;. let")
    (constant,) = printed_constants(ir, inline=3)
    assert printed_constants(ir) == [] and constant is ir.consts[0]
    empty = stage_closed(lambda: [np.zeros((0, 3), np.float32)], [])
    assert "a:f32[0,3]=[] ;" in print_ir(empty)


def test_one_large_constant_has_one_number():
    big = np.zeros(100, np.float32)
    inner = stage_closed(lambda: [big], [])
    ir = stage_closed(lambda: [*call_p.bind(program=inner), big, big + 1], [])
    assert [c is inner.consts[0] for c in printed_constants(ir)] == [True, False]
    assert print_ir(ir).count("#0") == 2 and print_ir(ir).count("#1") == 1


def test_open_programs_say_so_and_give_no_values():
    jaxpr, _ = stage(lambda x: [add_p.bind(x, np.ones(3, np.float32))], [VEC])
    assert print_ir(jaxpr) == (
        "{ lambda[open=True] a:f32[3] ; b:f32[3]. let c:f32[3] = toy.add b a in (c,) }"
    )


def test_flags_of_a_program():
    a = Var(VEC)
    jaxpr = Jaxpr(
        [], [a], [a], [], is_high=True, mut_types={0: F32}, effects=frozenset([ReadEffect(0)])
    )
    assert print_ir(jaxpr) == (
        "{ lambda[open=True is_high=True mut_types={0: f32[]} effects=set(read(0),)] ; a:f32[3]. "
        "let\n  in (a,) }"
    )


def test_letters_go_on_after_z_and_skip_words():
    letters = _letters()
    first = [next(letters) for _ in range(20_000)]
    assert first[:3] == ["a", "b", "c"] and first[25:28] == ["z", "aa", "ab"]
    assert len(set(first)) == 20_000 and not {"in", "let", "inf", "nan"} & set(first)


def test_long_parameters_stand_below_each_other():
    p = Primitive("test.long")
    p.def_abstract_eval(lambda x, **params: x)
    result = text(lambda x: [p.bind(x, first="a" * 50, second="b" * 50)], F32)
    assert result == (
        "{ lambda ; a:f32[]. let\n    b:f32[] = test.long[\n      first='" + "a" * 50 + "'\n"
        "      second='" + "b" * 50 + "'\n    ] a\n  in (b,) }"
    )


class Mode(enum.Enum):
    CLIP = 1
    FILL = 2


class Level(enum.IntEnum):
    HIGH = 3


class Dims(NamedTuple):
    lhs: tuple
    rhs: tuple


@dataclass(frozen=True)
class One:
    value: int


VALUES = {
    "None": None,
    "True": True,
    "3": 3,
    "-7": -7,
    "3.0": 3.0,
    "1e+30": 1e30,
    "-0.0": -0.0,
    "inf": float("inf"),
    "-inf": -float("inf"),
    "nan": float("nan"),
    "(1.0-2.5j)": 1 - 2.5j,
    "'it\\'s \"so\"'": 'it\'s "so"',
    "b'\\x00'": b"\x00",
    "float32": np.dtype("f4"),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "3:i32": np.int32(3),
    "0.1:f32": np.float32(0.1),
    "True:bool": np.bool_(True),
    "()": (),
    "(1,)": (1,),
    "(1, (2, None))": (1, (2, None)),
    "[1, 2]": [1, 2],
    "{'a': 1, 2: (3,)}": {"a": 1, 2: (3,)},
    "set(1, 2)": frozenset([2, 1]),
    "f32[3]": VEC,
    "i32[2,3]~": ShapedArray((2, 3), np.int32, True),
    "primitive'toy.sin'": sin_p,
    f"@{__name__}:Mode.CLIP": Mode.CLIP,
    f"@{__name__}:Level.HIGH": Level.HIGH,
    f"@{__name__}:Dims(lhs=(0, 1), rhs=())": Dims((0, 1), ()),
    f"@{__name__}:One(3)": One(3),
    "<object": object(),
}


@pytest.mark.parametrize("shown", VALUES)
def test_values_of_parameters(shown):
    p = Primitive("test.values")
    p.def_abstract_eval(lambda x, **params: x)
    result = text(lambda x: [p.bind(x, v=VALUES[shown])], F32)
    assert f"test.values[v={shown}" in result


@pytest.fixture
def registrations():
    before = [dict(d) for d in (notation._by_class, notation._by_name)]
    yield
    for now, then in zip((notation._by_class, notation._by_name), before):
        now.clear()
        now.update(then)


def test_registered_kinds_have_short_names_or_their_own_text(registrations):
    class Mesh:
        axes = "x=4"

    register_parameter(Mode)
    register_parameter(Dims, name="dims")
    register_parameter(Mesh, lambda m: m.axes, lambda t: Mesh(), name="grid")
    p = Primitive("test.values")
    p.def_abstract_eval(lambda x, **params: x)
    result = text(lambda x: [p.bind(x, a=Mode.FILL, b=Dims((), ()), c=Mesh())], F32)
    assert "test.values[a=Mode.FILL b=dims(lhs=(), rhs=()) c=grid'x=4']" in result.replace(
        f"{Mode.__qualname__}.", "Mode."
    )


def test_one_name_is_for_one_class(registrations):
    register_parameter(Mode)
    register_parameter(Mode)
    with pytest.raises(ValueError) as e:
        register_parameter(Dims, name="Mode")
    assert str(e.value) == (
        f"parameters named 'Mode' are of class {__name__}:Mode, so {__name__}:Dims needs another "
        "name: register_parameter(..., name=...)"
    )


def test_an_equation_in_a_message_is_one_line_without_sub_programs():
    inner = stage_closed(lambda x: [sin_p.bind(sin_p.bind(x))], [F32])
    ir = stage_closed(lambda x: call_p.bind(sin_p.bind(x), program=inner), [F32])
    assert print_eqn(ir.jaxpr, ir.eqns[1]) == "c:f32[] = toy.call[program={...}] b"


def test_labels_avoid_words_that_mean_something():
    def named(name):
        inner = stage_closed(lambda x: [sin_p.bind(sin_p.bind(x))], [F32], name)
        ir = stage_closed(
            lambda x: call_p.bind(*call_p.bind(x, program=inner), program=inner), [F32]
        )
        return print_ir(ir).split("\n")[1].split(" = ")[0].strip()

    assert named("loss") == "loss"
    assert named("<lambda>") == named("") == "program"
    assert named("f32") == "f32_1" and named("None") == "None_1" and named("read") == "read_1"


def test_shared_programs_are_written_before_those_that_use_them():
    one = stage_closed(lambda x: [sin_p.bind(x)], [F32], "f")
    twice = lambda p: lambda x: call_p.bind(*call_p.bind(x, program=p), program=p)  # noqa: E731
    two = stage_closed(twice(one), [F32], "f")
    three = stage_closed(twice(two), [F32], "f")
    assert (
        text(twice(three), F32)
        == """\
let
  f = { lambda ; a:f32[]. let b:f32[] = toy.sin a in (b,) }
  f_1 = { lambda ; c:f32[]. let
      d:f32[] = toy.call[program=f] c
      e:f32[] = toy.call[program=f] d
    in (e,) }
  f_2 = { lambda ; f:f32[]. let
      g:f32[] = toy.call[program=f_1] f
      h:f32[] = toy.call[program=f_1] g
    in (h,) }
in
{ lambda ; i:f32[]. let
    j:f32[] = toy.call[program=f_2] i
    k:f32[] = toy.call[program=f_2] j
  in (k,) }"""
    )


def test_programs_that_share_variables_have_names_of_their_own():
    body = stage_closed(lambda x: [sin_p.bind(x)], [F32])
    jaxpr = body.jaxpr
    longer = jaxpr.replace(outvars=[*jaxpr.invars, *jaxpr.outvars])

    def f(x):
        (y,) = call_p.bind(x, program=body)
        return call_p.bind(y, program=ClosedJaxpr(longer, []))

    result = text(f, F32)
    assert "{ lambda ; c:f32[]. let" in result and "{ lambda ; g:f32[]. let" in result
    assert print_ir(parse_ir(result)) == result


def test_names_of_primitives_that_are_no_words_are_quoted():
    p = Primitive("test odd-name")
    p.def_abstract_eval(lambda x: x)
    assert "= 'test odd-name' a in" in text(lambda x: [p.bind(x)], F32)
