"""The rule table of discharge: operations on mutable values as operations on their contents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dovetail_core import RuleTable, Trace


class DischargeRule(Protocol):
    """An operation on mutable values, by operations on their contents.

    ``rule(trace, args, params)`` runs with ``trace`` as current trace and returns the results (a
    list where the primitive has several). Among ``args`` are local values of the trace
    (``LocalValue``): the rule reads and replaces their ``contents``. A rule of a primitive that
    makes a mutable value returns a new ``LocalValue(trace, aval, contents)``. Other mutable values
    among ``args`` do not belong to the trace and are ordinary operands.
    """

    def __call__(self, trace: Trace, args: Sequence[Any], params: dict[str, Any]) -> Any: ...


discharge_rules: RuleTable[Callable[..., Any]] = RuleTable(
    "refs.discharge",
    signature=DischargeRule,
    law="discharge",
    empty="well where the primitive takes no mutable values",
)
