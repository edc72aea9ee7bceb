"""Lowering: attributes of the operation that made a value, and of a call; layouts."""

from __future__ import annotations

from typing import Any

from dovetail_backends import annotate_value, evaluate, layouts, reference_rules, stablehlo_rules

from ..primitives import layout_constraint_p, xla_metadata_call_p, xla_metadata_value_p


@stablehlo_rules.register(xla_metadata_value_p)
def _value_stablehlo(b: Any, x: Any, *, attributes: Any) -> Any:
    annotate_value(b.lines, x, dict(attributes))
    return x


@reference_rules.register(xla_metadata_value_p)
def _value_reference(x: Any, *, attributes: Any) -> Any:
    return x


@stablehlo_rules.register(xla_metadata_call_p)
def _call_stablehlo(b: Any, *operands: Any, program: Any, attributes: Any) -> list[Any]:
    outs = b.call(program, operands)
    if outs:
        annotate_value(b.lines, outs[0], dict(attributes))
    return outs


@reference_rules.register(xla_metadata_call_p)
def _call_reference(*args: Any, program: Any, attributes: Any) -> list[Any]:
    return evaluate(program, *args)


@stablehlo_rules.register(layout_constraint_p)
def _layout_stablehlo(b: Any, x: Any, *, major_to_minor: Any) -> Any:
    attributes = {
        "call_target_name": "LayoutConstraint",
        "operand_layouts": layouts([range(len(major_to_minor))[::-1]]),
        "result_layouts": layouts([major_to_minor[::-1]]),
    }
    return b.op("stablehlo.custom_call", [x], b.out, attributes)


@reference_rules.register(layout_constraint_p)
def _layout_reference(x: Any, *, major_to_minor: Any) -> Any:
    return x
