"""The cost of a program: how many elements its operations compute."""

from __future__ import annotations

from math import prod
from typing import Any, Protocol

from dovetail_base.options import as_bool
from dovetail_core import ClosedJaxpr, Option, RuleTable, config


class CostRule(Protocol):
    """``rule(eqn)``: the cost of an equation."""

    def __call__(self, eqn: Any) -> int: ...


cost_rules: RuleTable[CostRule] = RuleTable("api2.cost", signature=CostRule)
api2_counts = config.add(
    Option("api2_counts", False, "Cost is a number of operations.", check=as_bool)
)


@cost_rules.deriver
def _elements(primitive):
    def rule(eqn):
        if api2_counts.value:
            return 1
        return sum(prod(v.aval.shape) for v in eqn.outvars)

    return rule


def cost(program: ClosedJaxpr) -> int:
    """The cost of a program."""
    return sum((cost_rules.get(e.primitive))(e) for e in program.eqns)
