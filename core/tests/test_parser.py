"""Programs from text: round trips, and errors that name line, column and what was expected."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from dovetail_core import (
    AbstractValue,
    AccumulateEffect,
    ClosedJaxpr,
    Eqn,
    ExtendedDType,
    IOEffect,
    IRError,
    Jaxpr,
    Literal,
    OrderedIOEffect,
    Primitive,
    ReadEffect,
    ShapedArray,
    Var,
    WriteEffect,
    check_jaxpr,
    float0,
    parse_ir,
    parse_type,
    print_ir,
    printed_constants,
    register_dtype,
    register_parameter,
    register_type_notation,
    stage_closed,
)
from dovetail_core.ir.programs import open_program, same_param
from dovetail_testing import toy, toy_control
from dovetail_testing.toy import add_p, emit_p, mul_p, neg_p, sin_p, sincos_p
from dovetail_text import syntax as notation

F32 = ShapedArray((), np.float32)
VEC = ShapedArray((3,), np.float32)


class Mode(enum.Enum):
    CLIP = 1
    FILL = 2


class Dims(NamedTuple):
    lhs: Any
    rhs: Any


@dataclass(frozen=True)
class One:
    value: Any


def round_trip(ir):
    text = print_ir(ir)
    again = parse_ir(text, printed_constants(ir))
    assert type(again) is type(ir) and again == ir, text
    assert print_ir(again) == text
    assert open_program(again).effects == open_program(ir).effects
    return again


def test_every_sample_program():
    for s in [*toy.samples(), *toy_control.samples()]:
        round_trip(stage_closed(lambda *args, s=s: s.flat(*args), s.avals))


def test_a_program_by_hand():
    ir = parse_ir(
        """
        { lambda k:f32[3]=[1, 2.5, -inf] ; x:f32[3], y:f32[]. let
            a:f32[3] = toy.mul x y;   b:f32[3] = toy.add a k
            c:f32[3] d:f32[3] = toy.sincos b

            toy.emit d ! io('emit')
          in (c, 1.5:f32[]~, x) }
        """
    )
    assert isinstance(ir, ClosedJaxpr)
    check_jaxpr(ir)
    assert [e.primitive for e in ir.eqns] == [mul_p, add_p, sincos_p, emit_p]
    np.testing.assert_array_equal(ir.consts[0], np.array([1, 2.5, -np.inf], np.float32))
    assert ir.jaxpr.outvars[1].val == 1.5 and ir.jaxpr.outvars[2] is ir.jaxpr.invars[0]
    assert ir.effects == {IOEffect("emit")}


def test_constants_that_are_given():
    big = np.arange(100, dtype=np.float32)
    ir = stage_closed(lambda x: [add_p.bind(x, big)], [ShapedArray((100,), np.float32)])
    assert round_trip(ir).consts[0] is ir.consts[0]


def test_shared_programs_stay_shared():
    inner = stage_closed(lambda x: [sin_p.bind(x)], [F32], "f")
    call = toy_control.call_p
    ir = stage_closed(lambda x: call.bind(*call.bind(x, program=inner), program=inner), [F32])
    first, second = (e.params["program"] for e in round_trip(ir).eqns)
    assert first is second and first.jaxpr.name == "f"


def test_flags_and_effects():
    a = Var(VEC)
    effects = frozenset([ReadEffect(0), WriteEffect(0), AccumulateEffect(0), OrderedIOEffect("x")])
    ir = Jaxpr([], [a], [a], [], is_high=True, mut_types={0: F32}, effects=effects)
    again = round_trip(ir)
    assert again.is_high and again.mut_types == {0: F32} and again.effects == effects
    eqn = Eqn(emit_p, [a], [], {}, effects, None)
    assert round_trip(Jaxpr([], [a], [a], [eqn])).eqns[0].effects == effects


def test_literals_keep_the_class_of_their_value():
    ir = stage_closed(lambda: [1.0, np.float32(1), True, np.bool_(1), 3, np.int8(3), 1j], [])
    again = round_trip(ir)
    assert [type(x.val) for x in again.jaxpr.outvars] == [
        float,
        np.float32,
        bool,
        bool,
        int,
        np.int8,
        complex,
    ]


# --- random programs ------------------------------------------------------------------------------

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text()
    | st.binary()
    | st.sampled_from([np.dtype(d) for d in ("f4", "i1", "bool", ml_dtypes.bfloat16)])
    | st.sampled_from([float0, F32, VEC, sin_p, Mode.CLIP, Mode.FILL])
    | st.builds(np.float32, st.floats(width=32))
    | st.builds(np.int16, st.integers(-(2**15), 2**15 - 1))
    | st.builds(ml_dtypes.bfloat16, st.floats(width=16))
    | st.builds(np.complex64, st.complex_numbers(width=64))
)
exact = st.text() | st.integers() | st.booleans()  # equal to themselves by ==
hashable = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.builds(Dims, inner, inner)
        | st.builds(One, exact)
    ),
    max_leaves=6,
)
values = st.recursive(
    hashable | st.frozensets(exact, max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(exact, inner, max_size=3),
    max_leaves=6,
)
names = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)

ANY = Primitive("test.any", multiple_results=True)
"""Takes anything, returns as many values as its parameter ``n`` says."""
ANY.def_abstract_eval(lambda *types, n, **params: [F32] * n)


@st.composite
def programs(draw, depth=2):
    """A program of toy operations, constants, literals, random parameters and sub-programs."""
    dtypes = [np.float32, np.int32, ml_dtypes.bfloat16, np.bool_, np.complex64]
    avals = draw(st.lists(st.builds(ShapedArray, shapes, st.sampled_from(dtypes)), max_size=3))

    def f(*inputs):
        pool = list(inputs)
        for _ in range(draw(st.integers(0, 4))):
            pool += _operation(draw, pool, depth)
        return [draw(st.sampled_from(pool))] * draw(st.integers(0, 2)) if pool else []

    name = draw(st.sampled_from(["", "f", "loss", "<lambda>", "f32", "in"]))
    return stage_closed(f, avals, name)


shapes = st.lists(st.integers(0, 3), max_size=2).map(tuple)


def _operation(draw, pool, depth):
    kind = draw(st.sampled_from(["unary", "any", "constant", "literal", "call", "emit"]))
    if kind == "constant":
        shape = draw(shapes)
        size = int(np.prod(shape)) * 4
        raw = draw(st.binary(min_size=size, max_size=size))
        return [np.frombuffer(raw, np.float32).reshape(shape)]
    if kind == "literal":
        return [draw(st.floats() | st.integers(-100, 100) | st.booleans() | st.complex_numbers())]
    if kind == "any":
        params = draw(st.dictionaries(names.filter(lambda n: n != "n"), values, max_size=3))
        args = draw(st.lists(st.sampled_from(pool), max_size=2)) if pool else []
        return ANY.bind(*args, n=draw(st.integers(0, 2)), **params)
    if kind == "call" and depth:
        inner = draw(programs(depth=depth - 1))
        return ANY.bind(n=1, program=inner, more=({"again": inner},))
    if not pool:
        return []
    x = draw(st.sampled_from(pool))
    return emit_p.bind(x) if kind == "emit" else [neg_p.bind(x)]


@settings(suppress_health_check=list(HealthCheck))
@given(programs())
def test_any_program_survives(ir):
    round_trip(ir)


@given(st.dictionaries(names, values, max_size=4))
def test_any_parameters_survive(params):
    params.pop("n", None)
    ir = stage_closed(lambda: ANY.bind(n=1, **params), [])
    again = round_trip(ir).eqns[0].params
    assert all(same_param(again[k], v) for k, v in params.items())
    assert list(again) == ["n", *params]


# --- kinds that plugins register ------------------------------------------------------------------


class Mesh:
    def __init__(self, text):
        self.text = text

    def __eq__(self, other):
        return isinstance(other, Mesh) and self.text == other.text

    __hash__ = None


class Ref(AbstractValue):
    def __init__(self, inner):
        self.inner = inner

    def __eq__(self, other):
        return isinstance(other, Ref) and self.inner is other.inner

    def __hash__(self):
        return hash(self.inner)

    def str_short(self):
        return f"Ref{{{self.inner.str_short()}}}"


class Token(AbstractValue):
    def str_short(self):
        return "token"


class Key(ExtendedDType):
    name = "key<fry>"


@pytest.fixture
def registered():
    tables = (notation._by_class, notation._by_name, notation._types, notation._dtypes)
    before = [dict(t) for t in tables]
    yield
    for now, then in zip(tables, before):
        now.clear()
        now.update(then)


def with_param(value):
    return stage_closed(lambda: ANY.bind(n=1, v=value), [])


def test_registered_parameters(registered):
    register_parameter(Mesh, lambda m: m.text, Mesh, name="grid")
    register_parameter(Mode)
    register_parameter(Dims, name="dims")
    register_parameter(One, name="one")
    for value in (Mesh("x=4, 'y'\n"), Mode.FILL, Dims(Mode.CLIP, ()), One(One(2)), {Mode.CLIP: 3}):
        round_trip(with_param(value))


def test_registered_types(registered):
    token = Token()
    register_type_notation("Ref", lambda inner: Ref(parse_type(inner)))
    register_type_notation("token", lambda inner: token)
    key = register_dtype(Key())
    a, b, c = Var(Ref(VEC)), Var(token), Var(ShapedArray((2,), key))
    ir = Jaxpr(
        [],
        [a, b, c],
        [c, a],
        [Eqn(ANY, [a], [], {"n": 0, "t": Ref(F32), "d": key}, frozenset(), None)],
    )
    again = round_trip(ir)
    assert again.invars[0].aval == Ref(VEC) and again.invars[2].aval.dtype is key


@pytest.mark.parametrize(
    "text", ["f32[3]", "bf16[]~", "bool[2,0]", "float0[1]", "i4[]", "float8_e5m2[]"]
)
def test_types(text):
    assert parse_type(text).str_short() == text


# --- errors ---------------------------------------------------------------------------------------

HEAD = "{ lambda ; a:f32[] b:f32[]. let\n    "
ERRORS = {
    "": ("line 1, column 1", "expected '{', found the end of the text"),
    "{ lamda ; . let in () }": ("line 1, column 3", "expected 'lambda', found 'lamda'"),
    "{ lambda ; a:f32[] let in () }": (
        "line 1, column 20",
        "expected a variable or '.', found 'let'",
    ),
    "{ lambda ; a:f33[]. let in () }": ("line 1, column 14", "expected an element type"),
    "{ lambda ; a:foo. let in () }": ("line 1, column 14", "no type is called 'foo': import"),
    "{ lambda ; a:f32[]. in () }": ("line 1, column 21", "expected 'let', found 'in'"),
    "{ lambda ; a:f32[] a:f32[]. let in () }": (
        "line 1, column 20",
        "variable 'a' is defined a second time",
    ),
    "{ lambda c:f32[] ; . let in () }": ("line 1, column 18", "expected '=' and the value of the"),
    "{ lambda c:f32[]=#2 ; . let in () }": ("line 1, column 18", "#2 is not given: parse_ir got 1"),
    "{ lambda c:f32[2]=[1] ; . let in () }": (
        "line 1, column 19",
        "1 numbers for a constant of type",
    ),
    "{ lambda c:i8[]=300 ; . let in () }": ("line 1, column 17", "300 is not a value of type i8[]"),
    "{ lambda[nonsense=1] ; . let in () }": ("line 1, column 1", "lambda takes open, is_high"),
    HEAD + "c:f32[] = toy.mull a b\n in (c,) }": (
        "line 2, column 15",
        "no primitive is called 'toy.mull'",
    ),
    HEAD + "c:f32[] = toy.mul a q\n in (c,) }": (
        "line 2, column 25",
        "variable 'q' is not defined; defined so far: a, b",
    ),
    HEAD + "c:f32[] = toy.mul a 2.0\n in (c,) }": ("line 3, column 2", "expected ':', found 'in'"),
    HEAD + "c:f32[] = toy.mul a 1.5:i32[]\n in () }": (
        "line 2, column 25",
        "1.5 is not a value of type",
    ),
    HEAD + "c:f32[] toy.mul a b\n in (c,) }": (
        "line 2, column 13",
        "expected '=', found 'toy.mul'",
    ),
    HEAD + "c:f32[] = 3 a b\n in (c,) }": ("line 2, column 15", "expected a primitive, found '3'"),
    HEAD + "a:f32[] = toy.neg b\n in (a,) }": ("line 2, column 5", "'a' is defined a second time"),
    HEAD + "c:f32[] = toy.neg[x=] a\n in (c,) }": (
        "line 2, column 25",
        "expected a value, found ']'",
    ),
    HEAD + "c:f32[] = toy.neg[x=1 a\n in (c,) }": ("line 3, column 2", "expected '=', found 'in'"),
    HEAD + "c:f32[] = toy.neg[x=<f>] a": (
        "line 2, column 25",
        "has no text form: the plugin that it",
    ),
    HEAD + "c:f32[] = toy.neg[x=foo] a": ("line 2, column 25", "nothing is called 'foo': import"),
    HEAD + "c:f32[] = toy.neg[x=io.OUT] a": ("line 2, column 25", "io has no member 'OUT'"),
    HEAD + "c:f32[] = toy.neg[x=read(1, 2)] a": (
        "line 2, column 25",
        "read does not take these fields",
    ),
    HEAD + "c:f32[] = toy.neg[x=io'text'] a": (
        "line 2, column 25",
        "kind 'io' have no text of their",
    ),
    HEAD + "c:f32[] = toy.neg[x=dtype'foo'] a": (
        "line 2, column 25",
        "no element type is called 'foo'",
    ),
    HEAD + "c:f32[] = toy.neg[x=primitive'foo'] a": (
        "line 2, column 25",
        "no primitive is called 'foo'",
    ),
    HEAD + "c:f32[] = toy.neg[x=(1, 2] a": ("line 2, column 30", "expected ',', found ']'"),
    HEAD + "c:f32[] = toy.neg[x=1:f99] a": (
        "line 2, column 25",
        "expected an element type, found '1:f99]'",
    ),
    HEAD + "in (a,) } more": ("line 2, column 15", "expected the end of the text, found 'more'"),
    HEAD + "in (a b) }": ("line 2, column 11", "expected ',', found 'b)'"),
    "let f { lambda ;. let in () } in": ("line 1, column 7", "expected '=', found '{'"),
    "{ lambda ; a:token{f32[]. let in ()": ("line 1, column 19", "this brace is never closed"),
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors_name_line_column_and_what_was_expected(text, registered):
    register_type_notation("token", lambda inner: F32)
    place, message = ERRORS[text]
    with pytest.raises(IRError) as e:
        parse_ir(text, [None])
    shown = str(e.value)
    assert shown.startswith(f"{place}: ") and message in shown.split("\n")[0], shown
    line, caret = shown.split("\n")[1:]
    column = int(place.rsplit(" ", 1)[1])
    if text:
        assert caret.index("^") == 4 + column - 1 and line[4:] in text


def test_errors_in_long_lines_show_the_part_around_the_place():
    text = "{ lambda ; " + " ".join(f"v{i}:f32[]" for i in range(200)) + ". let in (q,) }"
    with pytest.raises(IRError) as e:
        parse_ir(text)
    _, line, caret = str(e.value).split("\n")
    assert len(line) < 110 and line[caret.index("^")] == "q"


def test_classes_are_looked_up_only_where_they_are_imported_already():
    for name in ("@not.imported:Mode.CLIP", "@os:system('true')", "@os:name.x"):
        with pytest.raises(IRError, match=r"nothing is called '@(os|not\.imported):"):
            parse_ir(f"{{ lambda ;. let\n  test.any[n=0 v={name}]\n in () }}")


def test_rows_of_plugins_are_imported_when_a_name_is_not_known(site):
    site.plugin("acme", "primitives=('acme_rows',)")
    site.module("acme_rows", "from dovetail_core import Primitive\np = Primitive('acme.row')\n")
    ir = parse_ir("{ lambda ; a:f32[]. let b:f32[] = acme.row a in (b,) }")
    assert ir.eqns[0].primitive.module == "acme_rows"


def test_errors_for_types():
    for text in ("", "f32", "f32[3", "f32[3] more", "3"):
        with pytest.raises(IRError, match="line 1, column"):
            parse_type(text)


def test_literals_of_types_without_numbers():
    a = Var(F32)
    ir = Jaxpr([], [a], [Literal(3, Token())], [])
    notation.register_type_notation("token", lambda inner: Token())
    try:
        assert parse_ir(print_ir(ir)).outvars[0].val == 3
    finally:
        notation._types.pop("token")


@pytest.mark.parametrize(
    "opening", ["(", "[", "{", "set(", "{1: ", "{ lambda ; . let a:f32[] = jit[p="]
)
@pytest.mark.parametrize("depth", [300, 100_000])
def test_deep_nesting_is_an_error_of_the_text(opening, depth):
    with pytest.raises(IRError, match=r"line 1, column \d+: "):
        parse_ir("{ lambda ; a:f32[]. let test.any[k=" + opening * depth + "1] in () }")


def test_what_cannot_be_made_is_an_error_of_the_text():
    with pytest.raises(
        IRError, match=r"column \d+: what ends here cannot be: TypeError: unhashable"
    ):
        parse_ir("{ lambda ; a:f32[]. let test.any[k={[1]: 2}] in () }")


def test_a_given_constant_has_the_shape_of_its_type():
    text = "{ lambda a:f32[3]=#0 ; . let in (a,) }"
    assert parse_ir(text, [np.zeros(3, np.float32)]).consts
    with pytest.raises(IRError, match=r"#0 has shape \(40,\), not that of"):
        parse_ir(text, [np.zeros(40, np.float32)])
