"""Checks of the results of rules, and errors that name the rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, cast

from dovetail_base.source import current_source, describe

from ..dispatch.primitive import Primitive
from ..types.avals import AbstractValue
from ..types.typeof import is_value, typeof
from .tables import RuleTable

__all__ = (
    "check_count",
    "check_results",
    "describe_result",
    "raise_wrong_result",
    "type_of_result",
)


def raise_wrong_result(
    table: RuleTable[Any], primitive: Primitive, result_text: str, wanted: str
) -> NoReturn:
    """Raise TypeError: a rule returned ``result_text``; names the rule, its line and the user's."""
    raise TypeError(
        f"{table.spell_rule(primitive)} returned {result_text}{describe(current_source())}; "
        f"{wanted}."
    )


def check_count(
    table: RuleTable[Any], primitive: Primitive, result: Any, count: int | None, what: str
) -> None:
    """Raise TypeError unless a rule returned a list of ``count`` (None: any number) of ``what``."""
    if isinstance(result, (list, tuple)):
        n = len(result)  # type: ignore[arg-type]
        if count is None or n == count:
            return
        text = f"{n} {what}{'' if n == 1 else 's'}"
    else:
        text = describe_result(result)
    number = "" if count is None else f" of {count}"
    raise_wrong_result(table, primitive, text, f"it must return a list{number}, one per {what}")


def type_of_result(
    table: RuleTable[Any], primitive: Primitive, result: Any, what: str
) -> AbstractValue:
    """The type of a value that a rule returned as ``what``; raises TypeError if it is no value."""
    if not is_value(result):
        raise_wrong_result(
            table, primitive, f"{describe_result(result)} as {what}", "that must be a value"
        )
    return typeof(result)


def check_results(
    table: RuleTable[Any], primitive: Primitive, args: Sequence[Any], params: Any, result: Any
) -> None:
    """Raise TypeError unless a rule returned the operation's results, weak typing aside.

    ``args`` are the operands, or any values of their types.
    """
    if primitive.abstract_eval is None:  # it is evaluated, and no program has it
        return
    wanted = primitive.infer(tuple([typeof(x) for x in args]), params).avals
    results = result if primitive.multiple_results else [result]
    check_count(table, primitive, results, len(wanted), "result")
    for i, (x, want) in enumerate(zip(results, wanted)):
        got = type_of_result(table, primitive, x, f"result {i}")
        if got is want or got.strong() == want.strong():
            continue
        if primitive.is_high is None or not got.is_declared_as(want):
            text = f"a value of type {got.str_short()} as result {i}"
            wish = f"the type rule says {want.str_short()}"
            raise_wrong_result(table, primitive, text, wish)


def describe_result(result: Any) -> str:
    """A description of a rule's result that is not of the wanted kind, for messages."""
    if is_value(result):
        return f"a value of type {typeof(result).str_short()}"
    if isinstance(result, (tuple, list)):
        return (
            f"a {type(cast(Any, result)).__name__} of length {len(cast('Sequence[Any]', result))}"
        )
    return f"a {type(result).__name__}"
