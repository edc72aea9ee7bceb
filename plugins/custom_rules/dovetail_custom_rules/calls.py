"""Calls of custom functions: as a row around a traced body, or around a body that stays Python."""

from __future__ import annotations

from typing import Any

from dovetail_ad import JvpTrace, LinearTrace
from dovetail_core import (
    EVAL,
    UnexpectedTracerError,
    consts_to_inputs,
    run_under,
    stage,
    typeof,
)
from dovetail_core.tree.util import tree_flatten, tree_unflatten

from .checks import check_value, closed_over, names_rule
from .frame import Frame
from .row import program_row, python_row
from .rules import Rules, Staged, flat_rules


def looks_through(trace: Any) -> bool:
    """Whether all that happens is differentiation of values that are known now."""
    while isinstance(trace, (JvpTrace, LinearTrace)):
        trace = trace.parent
    return trace is EVAL


def call_python(rules: Rules, frame: Frame) -> Any:
    """A call that no program records: rules see values, as do the function and its conditions."""

    def body(*leaves: Any) -> list[Any]:
        return frame.results(rules.fun(*frame.fill(leaves)), frame.name)

    def evaluate(*leaves: Any) -> list[Any]:
        try:
            return run_under(EVAL, body, *leaves)
        except UnexpectedTracerError as e:
            if names_rule(e):
                raise
            raise closed_over(
                f"{frame.name} is differentiated with respect to a value that the function closes "
                "over, but its custom rule only says how to differentiate with respect to its "
                "arguments. Pass the value as an argument that the rule differentiates, or apply "
                "stop_gradient to it."
            ) from e

    row = python_row(flat_rules(rules, frame, None), body, evaluate)
    outs = row.bind(*frame.leaves)
    return tree_unflatten(frame.out_tree, outs)


def staged_call(rules: Rules, frame: Frame) -> Staged:
    """The row and program of a call.

    The body is traced at each call: nothing says that it, or a static argument, is what it was.
    """
    avals = [typeof(x) for x in frame.leaves]
    frame.leaves = []  # rules keep the frame, but are no part of this call
    rules.called = True

    def flat(*xs: Any) -> list[Any]:
        leaves, frame.out_tree = tree_flatten(rules.fun(*frame.fill(xs)))
        for x in leaves:
            check_value(x, f"{frame.name} returned a value that is not an array")
        return leaves

    jaxpr, consts = stage(flat, avals, rules.name)
    program = consts_to_inputs(jaxpr)
    frame.closed = len(consts)
    frame.out_avals = program.out_avals
    row = program_row(flat_rules(rules, frame, program.in_avals))
    return Staged(row, program, consts, frame.out_tree)
