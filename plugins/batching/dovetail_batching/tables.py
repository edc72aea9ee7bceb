"""The rule table of batching and the signature of its rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dovetail_core import Primitive, RuleTable


class BatchRule(Protocol):
    """One operation on operands some of which have an additional, mapped axis.

    ``rule(axis, args, dims, **params)`` returns ``(out, out_dim)``, lists where the primitive has
    multiple results. ``dims[i]`` is the position of the mapped axis in ``args[i]`` (never
    negative), or None if it has none (at least one operand has one). ``axis.size`` is the length of
    the axis and ``axis.name`` its name or None. The first three are passed by position.

    Operations across named axes have parameters ``axes`` (the names) and ``axis_sizes``; their
    rules are called for each axis that they name even if no operand is mapped.
    """

    def __call__(
        self, axis: Any, args: Sequence[Any], dims: Sequence[int | None], /, **params: Any
    ) -> tuple[Any, Any]: ...


batch_rules: RuleTable[Callable[..., Any]] = RuleTable(
    "batching.batch", signature=BatchRule, law="batch"
)

axis_primitives: set[Primitive] = set()
"""Primitives whose rules are called under every ``vmap``, even if no operand is mapped: they depend
on the axis, its name or its length."""
