"""Anonymous primitives: they carry their rules, may be lifted whole, and are numbered in text."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from dovetail_core import (
    IRError,
    MissingRule,
    Primitive,
    RuleTable,
    ShapedArray,
    check_jaxpr,
    dce_closed,
    dce_rules,
    derive,
    parse_ir,
    print_ir,
    printed_constants,
    stage_closed,
)
from dovetail_testing.toy import sin_p
from dovetail_text.printer import print_eqn

F32 = ShapedArray((), "float32")


def anonymous(name: str = "f") -> Primitive:
    primitive = Primitive(name, anonymous=True)
    primitive.def_abstract_eval(lambda x: x)
    return primitive


def test_tables_ask_a_row_for_its_own_rule_and_keep_none() -> None:
    table: RuleTable[Any] = RuleTable("test.table", derive=lambda p: "derived")  # type: ignore[arg-type]
    primitive = anonymous()
    assert table[primitive] == "derived"
    primitive.rules = {"test.table": "own", "test.other": "another"}  # type: ignore[dict-item]
    assert table[primitive] == "own" and table.get(primitive) == "own" and not table.rules
    alive = weakref.ref(primitive)
    del primitive
    gc.collect()
    assert alive() is None


def test_a_row_without_a_rule_for_the_table_is_missing() -> None:
    table: RuleTable[Any] = RuleTable("test.empty")
    primitive = anonymous()
    primitive.rules = {"test.other": lambda: None}
    with pytest.raises(MissingRule, match=r"table 'test.empty' has no rule for primitive 'f'"):
        table.miss(primitive)


def test_a_row_says_how_it_is_lifted() -> None:
    primitive = anonymous()
    primitive.def_decomposition(lambda x: x)
    primitive.lift = lambda carrier, args, params: ("lifted", carrier, args)
    result = derive(primitive)
    assert result is not None and result("carrier", [1], {}) == ("lifted", "carrier", [1])  # type: ignore[arg-type]


def test_dead_code_elimination_asks_a_row() -> None:
    primitive = anonymous()
    primitive.rules = {"dce": lambda used, eqn: ([True], eqn.replace(primitive=sin_p))}
    program = stage_closed(lambda x: [primitive.bind(x)], [F32])
    reduced, _ = dce_closed(program, [True])
    assert reduced.eqns[0].primitive is sin_p and primitive not in dce_rules.rules
    primitive.rules = {}
    again = stage_closed(lambda x: [primitive.bind(x)], [F32])  # results are kept with programs
    assert dce_closed(again, [True])[0].eqns[0].primitive is primitive
    assert dce_closed(program, [False])[0].eqns == []


def test_text_numbers_rows_with_constants() -> None:
    f, g, odd = anonymous(), anonymous(), anonymous("<lambda>")
    program = stage_closed(lambda x: [g.bind(f.bind(f.bind(x))), odd.bind(x)], [F32])
    check_jaxpr(program)
    text = print_ir(program)
    assert text.count("f#0 ") == 2 and text.count("f#1 ") == 1 and "'<lambda>'#2 " in text
    assert printed_constants(program) == [f, g, odd]
    assert parse_ir(text, printed_constants(program)) == program
    assert "#" not in print_eqn(program.jaxpr, program.eqns[0])  # in messages names will do


@pytest.mark.parametrize("constants", [[], ["f"], [sin_p]])
def test_text_needs_the_rows(constants: list[Any]) -> None:
    text = print_ir(stage_closed(lambda x: [anonymous().bind(x)], [F32]))
    with pytest.raises(
        IRError, match="constant #0 is not the primitive 'f' of a custom rule: pass"
    ):
        parse_ir(text, constants)
