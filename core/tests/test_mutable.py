"""Mutable values in the kernel: types, local values, programs that make them, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dovetail_core import (
    AbstractValue,
    Primitive,
    ReadEffect,
    ShapedArray,
    WriteEffect,
    dce_closed,
    get_trace,
    register_type,
    stage,
    stage_closed,
    typeof,
)
from dovetail_core.dispatch.value_methods import own_operator
from dovetail_core.types.effects import must_be_kept
from dovetail_mutable.mutable_values import (
    Borrow,
    LocalValue,
    any_mutable,
    check_aliases,
    check_borrowed,
    has_mutable,
    uses_local,
    write_effects,
)
from dovetail_testing.toy import add_p, sin_p
from dovetail_testing.toy_control import call_p

F32 = ShapedArray((), np.float32)


class RuleType(AbstractValue):
    """The type of a place for a number."""

    is_mutable = True
    shape, dtype = (), np.dtype(np.float32)

    def str_short(self) -> str:
        return "Rule"

    def _getitem(self: Any, index: Any) -> Any:
        return read_p.bind(self)

    def _add(self: Any, other: Any) -> Any:
        return "added", other

    def _gt(self: Any, other: Any) -> Any:
        return "greater", other


class Rule:
    """A place at rest."""


CELL = RuleType()
register_type(Rule, lambda x: CELL)
make_p = Primitive("tests.make", allocates=True)
read_p = Primitive("tests.read", stateful=True)
write_p = Primitive("tests.write", stateful=True, multiple_results=True)
make_p.def_abstract_eval(lambda: CELL)
read_p.def_effectful_abstract_eval(lambda rule: (F32, {ReadEffect(0)}))
write_p.def_effectful_abstract_eval(lambda rule, x: ([], {WriteEffect(0)}))


def test_rows_say_whether_they_are_concerned() -> None:
    assert (make_p.stateful, make_p.allocates) == (True, True)
    assert (read_p.stateful, read_p.allocates) == (True, False)
    assert call_p.stateful  # it has sub-programs
    assert not sin_p.stateful
    assert Primitive("tests.anonymous", anonymous=True).stateful


def test_other_rows_take_no_mutable_values() -> None:
    with pytest.raises(
        TypeError, match=r"toy\.sin takes values, got Rule at .*test_mutable\.py:\d+"
    ):
        stage_closed(lambda c: [sin_p.bind(c)], [CELL])


def test_results_are_not_mutable() -> None:
    with pytest.raises(TypeError, match="f returned Rule, which is mutable: only values leave"):
        stage(lambda c: [c], [CELL], "f")


def test_local_values_belong_to_their_trace() -> None:
    trace = get_trace()
    rule = LocalValue(trace, CELL, [1.0])
    assert typeof(rule) is CELL
    assert uses_local(trace, read_p, [2.0, rule])
    assert uses_local(trace, make_p, [])
    assert not uses_local(trace, read_p, [2.0, Rule()])
    rule.check()
    rule.closed_by = "emptied at noon. Fill it."
    with pytest.raises(
        RuntimeError, match=r"Rule is used at .* after it was emptied at noon\. Fill"
    ):
        rule.check()


def test_borrows_know_whether_they_changed() -> None:
    original = Rule()
    borrow = Borrow(get_trace(), (original,), CELL, [1.0, 2.0])
    assert borrow.local.borrowed
    assert not borrow.changed
    borrow.local.contents[1] = 3.0
    assert borrow.changed
    check_borrowed([borrow], [Rule(), 1.0], "vmap")
    with pytest.raises(
        ValueError, match="Rule is an argument of a function under vmap, and is also"
    ):
        check_borrowed([borrow], [original], "vmap")


def test_programs_know_what_they_hold() -> None:
    makes = stage_closed(lambda x: [add_p.bind(x, read_p.bind(make_p.bind()))], [F32])
    nested = stage_closed(lambda x: call_p.bind(x, program=makes), [F32])
    plain = stage_closed(lambda x: [sin_p.bind(x)], [F32])
    takes = stage_closed(lambda c: [read_p.bind(c)], [CELL])
    assert [has_mutable(p) for p in (makes, nested, plain, takes)] == [True, True, False, True]
    assert any_mutable(takes.in_avals)
    assert not any_mutable(makes.in_avals)


def test_reads_are_dropped_and_writes_kept() -> None:
    def f(rule: Any, x: Any) -> Any:
        read_p.bind(rule)
        write_p.bind(rule, x)
        return [x]

    program = stage_closed(f, [CELL, F32])
    assert program.effects == {ReadEffect(0), WriteEffect(0)}
    assert write_effects(program.effects) == [WriteEffect(0)]
    reduced, left = dce_closed(program, [False])
    assert [e.primitive for e in reduced.eqns] == [write_p]
    assert left == [True, True]
    assert must_be_kept(frozenset({WriteEffect(0)}))
    assert not must_be_kept(frozenset({ReadEffect(0)}))


def test_aliases_are_named() -> None:
    one, other = Rule(), Rule()
    check_aliases("f", [one, other, 1.0, 1.0], ["a", "b", "c", "d"])
    with pytest.raises(ValueError, match=r"f: one Rule is passed as a and as c at .*Pass it once"):
        check_aliases("f", [one, other, one], ["a", "b", "c"])


def test_operators_of_types_that_are_no_arrays() -> None:
    result: list[Any] = []

    def f(rule: Any, x: Any) -> Any:
        result.append(own_operator(rule, 2, "__add__"))
        result.append(own_operator(x, rule, "__lt__"))  # mirrored: rule > x
        assert own_operator(x, x, "__add__") is NotImplemented
        with pytest.raises(TypeError, match=r"has no operator __mul__ .*Read its value first"):
            own_operator(rule, x, "__mul__")
        with pytest.raises(AttributeError, match=r"has no attribute 'sum'. Read its value first"):
            rule.sum  # noqa: B018
        return [rule[0]]

    program = stage_closed(f, [CELL, F32])
    assert [e.primitive for e in program.eqns] == [read_p]
    assert result[0] == ("added", 2)
    assert result[1][0] == "greater"
