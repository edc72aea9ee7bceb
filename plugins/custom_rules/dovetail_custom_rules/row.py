"""The anonymous row behind every custom rule: a primitive that carries its author's table_rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import (
    ClosedJaxpr,
    Primitive,
    RegionInterface,
    UnexpectedTracerError,
    call_interface,
    eval_jaxpr,
    registry,
    run_under,
)
from dovetail_core.interpret.lowering import LowCarrier

from .batched import batch_rule
from .elimination import dce_rule
from .flat import FlatRules
from .lifting import lift_row
from .pushing import pushforward, split_results
from .transposing import linear_jvp_rule, transpose_rule


def program_row(rules: FlatRules) -> Primitive:
    """The row for calls whose body is traced; its parameter is ``program``."""
    row = Primitive(rules.name, multiple_results=True, anonymous=True)
    row.def_effectful_abstract_eval(_type)
    row.def_regions(_regions)
    row.def_decomposition(_inline)
    row.lift = lambda carrier, args, params: lift_row(row, rules, carrier, args, params)
    row.rules = _rules(row, rules)
    return row


def python_row(
    rules: FlatRules, body: Callable[..., list[Any]], evaluate: Callable[..., list[Any]]
) -> Primitive:
    """The row for a call that is evaluated while it is differentiated: its body stays Python.

    So the body may look at values that are known. ``evaluate`` runs it where all of them are.
    """
    row = Primitive(rules.name, multiple_results=True, anonymous=True)
    row.def_decomposition(body)
    row.rules = {**_rules(row, rules), "eval": evaluate}
    return row


def _type(*avals: Any, program: ClosedJaxpr) -> Any:
    return program.out_avals, program.effects


def _regions(params: dict[str, Any]) -> RegionInterface:
    return call_interface(params["program"], lambda program, _: {"program": program})


def _inline(*args: Any, program: ClosedJaxpr) -> list[Any]:
    return eval_jaxpr(program.jaxpr, program.consts, *args)


def _lower(b: Any, *operands: Any, program: ClosedJaxpr) -> list[Any]:
    return b.inline(program, operands)


def _rules(row: Primitive, rules: FlatRules) -> dict[str, Callable[..., Any]]:
    table_rules: dict[str, Callable[..., Any]] = {
        "ad.partial_eval": _opened(row),
        "dce": dce_rule(rules),
        "eval": row.decomposition,  # type: ignore[dict-item]
    }
    if row.regions is not None:
        table_rules["backends.stablehlo"] = _lower
    if rules.transpose is not None:
        del table_rules["ad.partial_eval"]
        table_rules["ad.transpose"] = transpose_rule(rules.transpose, rules.name)
        table_rules["ad.jvp"] = linear_jvp_rule(row, rules.transpose)
    own = rules.reduce is not None or rules.batch is not None
    if rules.differentiates or (own and row.regions is not None and rules.transpose is None):
        table_rules["ad.jvp"] = _jvp_rule(row, rules)
    if rules.reduce is not None and row.regions is not None:
        # The rule speaks of high values also where the program has their arrays.
        table_rules["to_lo"] = lambda *args, **params: lift_row(
            row, rules, LowCarrier(rules.name), args, params
        )
    if rules.batch is not None:
        table_rules["batching.batch"] = batch_rule(rules)
    table_rules.update(rules.table_rules)
    if "backends.stablehlo" in rules.table_rules and "eval" not in rules.table_rules:
        table_rules["eval"] = _compiled(row)
    return table_rules


def _opened(row: Primitive) -> Callable[..., Any]:
    """Partial evaluation of a row met by a linear unknown itself: of the operations inside."""

    def rule(trace: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
        return run_under(trace, row.decomposition, *args, **params)  # type: ignore[arg-type]

    return rule


def _compiled(row: Primitive) -> Callable[..., Any]:
    """Evaluation through the backend's rule, made when it is first needed."""
    made: list[Callable[..., Any]] = []

    def rule(*args: Any, **params: Any) -> Any:
        if not made:
            made.append(registry().provider("evaluator")(row))
        return made[0](*args, **params)

    return rule


def _jvp_rule(row: Primitive, rules: FlatRules) -> Callable[..., Any]:
    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        if rules.differentiates:
            refuse_fixed(rules, tangents)
        if rules.jvp is not None and rules.vjp is None:
            return rules.jvp(primals, tangents)
        mask = tuple(t is not None for t in tangents)
        pushed = pushforward(row, rules, mask, params)
        return split_results(pushed.bind(*primals, *(t for t in tangents if t is not None)))

    return rule


def refuse_fixed(rules: FlatRules, tangents: Sequence[Any]) -> None:
    """Raise for a tangent of something that derivative rules know nothing of.

    Raises:
        UnexpectedTracerError: names the function and what it is.
    """
    for what, t in zip(rules.fixed, tangents):
        if what and t is not None:
            raise UnexpectedTracerError(
                f"{rules.name} is differentiated with respect to {what}, but its custom rule only "
                "says how to differentiate with respect to its arguments. Pass the value as an "
                "argument that the rule differentiates, or apply stop_gradient to it."
            )
