"""Extended element types: arrays made of arrays of their own shape, in the kernel alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dovetail_core import (
    ExtendedDType,
    Primitive,
    ShapedArray,
    check_jaxpr,
    eval_rules,
    jaxpr_as_fun,
    low_types,
    lower_to_lo,
    lower_values,
    parse_ir,
    print_ir,
    raise_values,
    register_type,
    stage_closed,
    to_lo_rules,
    typeof,
)
from dovetail_testing.toy import add_p, sin_p
from dovetail_text.syntax import register_dtype
from dovetail_tree.util import calls, default_registry, register_parts, tree_leaves

HALVES = (np.dtype(np.float32), np.dtype(np.float32))


class Double(ExtendedDType):
    """Numbers as the sum of two of half the width."""

    name = "double"
    itemsize = 8
    low = HALVES

    def arrays_of(self, value: Any) -> Any:
        return value.parts

    def value_of(self, arrays: Any) -> Any:
        return Doubles(tuple(arrays))


DOUBLE = register_dtype(Double())


@dataclass(frozen=True, eq=False)
class Doubles:
    parts: tuple[Any, ...]


register_type(Doubles, lambda x: ShapedArray(typeof(x.parts[0]).shape, DOUBLE))
register_parts(Doubles, lambda x: (x.parts, None), lambda _, parts: Doubles(tuple(parts)))

turn_p = Primitive("extended_test.turn").def_traits(moves=True)
turn_p.def_abstract_eval(lambda x: x)
eval_rules.register(turn_p)(lambda x: x[::-1])

cut_p = Primitive("extended_test.cut", multiple_results=True).def_traits(moves=True)
cut_p.def_abstract_eval(lambda x, i: [x.update(shape=(1,)), x.update(shape=(x.shape[0] - 1,))])
eval_rules.register(cut_p)(lambda x, i: [x[i : i + 1], np.delete(x, i)])

total_p = Primitive("extended_test.total")
total_p.def_abstract_eval(lambda x: ShapedArray(x.shape, np.float32))
to_lo_rules.register(total_p)(lambda x: add_p.bind(*x.parts))

X = Doubles((np.array([1.0, 2.0, 3.0], np.float32), np.array([0.1, 0.2, 0.3], np.float32)))
AVAL = ShapedArray((3,), DOUBLE)


def run(program: Any, *values: Any) -> list[Any]:
    """A program's results, evaluated on the arrays of its values."""
    low = lower_to_lo(program)
    check_jaxpr(low.jaxpr, "lowering")
    outs = jaxpr_as_fun(low)(*lower_values(values, "to test"))
    return raise_values(outs, program.out_avals)


def test_the_type_of_such_an_array():
    assert typeof(X) is AVAL and AVAL.is_high and AVAL.str_short() == "double[3]"
    assert low_types([AVAL, ShapedArray((), np.int32)]) == [
        *[ShapedArray((3,), np.float32)] * 2,
        ShapedArray((), np.int32),
    ]
    assert AVAL.tangent_type().str_short() == "float0[3]"
    assert not ShapedArray((3,), np.float32).is_high


def test_it_is_one_leaf_to_users_and_several_to_compiled_calls():
    assert tree_leaves([X]) == [X]
    leaves, tree = calls.flatten([X])
    assert leaves == list(X.parts) and isinstance(tree.unflatten(leaves)[0], Doubles)
    assert default_registry.flatten(X)[0] == [X]


def test_what_moves_elements_happens_to_each_array():
    program = stage_closed(lambda x: [turn_p.bind(x)], [AVAL])
    assert program.is_high
    (result,) = run(program, X)
    assert [p.tolist() for p in result.parts] == [p[::-1].tolist() for p in X.parts]


def test_several_results_and_operands_that_say_where():
    program = stage_closed(lambda x, i: cut_p.bind(x, i), [AVAL, ShapedArray((), np.int32)])
    one, rest = run(program, X, np.int32(1))
    assert [p.tolist() for p in one.parts] == [[2.0], [pytest.approx(0.2)]]
    assert rest.parts[0].tolist() == [1.0, 3.0]


def test_low_equations_are_recorded_as_they_are():
    def f(x: Any, y: Any) -> list[Any]:
        z = sin_p.bind(sin_p.bind(y))
        return [add_p.bind(z, total_p.bind(turn_p.bind(x)))]

    program = stage_closed(f, [AVAL, ShapedArray((3,), np.float32)])
    low = lower_to_lo(program)
    assert not low.is_high
    # The first takes another input; what follows it is the same equation.
    assert [e for e in low.eqns if e.primitive is sin_p][1] is program.eqns[1]
    assert [e.source for e in low.eqns if e.primitive is add_p][-1] is program.eqns[-1].source
    (result,) = run(program, X, np.zeros(3, np.float32))
    np.testing.assert_allclose(result, sum(X.parts)[::-1])


def test_constants_and_unused_inputs():
    program = stage_closed(lambda x: [X, turn_p.bind(X), x], [AVAL])
    first, turned, given = run(program, X)
    assert [p.tolist() for p in first.parts] == [p.tolist() for p in given.parts]
    assert turned.parts[0].tolist() == [3.0, 2.0, 1.0]


def test_programs_of_such_arrays_have_a_text():
    program = stage_closed(lambda x: [turn_p.bind(x)], [AVAL])
    text = print_ir(program)
    assert "a:double[3]" in text and "is_high" not in text
    again = parse_ir(text)
    assert again == program and again.is_high and print_ir(again) == text


def test_an_element_type_without_arrays_is_one_of_typing_alone():
    class Mark(ExtendedDType):
        name = "mark"

    mark: Any = Mark()
    assert not ShapedArray((2,), mark).is_high
    with pytest.raises(NotImplementedError, match="Mark has no arrays: define arrays_of"):
        mark.arrays_of(1)
    with pytest.raises(NotImplementedError, match="Mark has no arrays: define value_of"):
        mark.value_of([1])
