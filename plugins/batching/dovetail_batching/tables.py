"""The table of batching: what a rule looks like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dovetail_core import Primitive, RuleTable


class BatchRule(Protocol):
    """One operation on operands of which some have an extra, mapped axis.

    ``rule(axis, args, dims, **params)`` returns ``(out, out_dim)``, lists where the primitive has
    multiple results. ``dims[i]`` is the position of the mapped axis in ``args[i]`` (never
    negative), or None where it has none (at least one has one). ``axis.size`` is its length and
    ``axis.name`` its name or None. The first three are passed by position.

    Operations across a named axis have parameters ``axes`` (its names) and ``axis_sizes``; their
    rules are called for the axes that they name even where no operand is mapped.
    """

    def __call__(
        self, axis: Any, args: Sequence[Any], dims: Sequence[int | None], /, **params: Any
    ) -> tuple[Any, Any]: ...


batch_rules: RuleTable[Callable[..., Any]] = RuleTable(
    "batching.batch", signature=BatchRule, law="batch"
)

asked_always: set[Primitive] = set()
"""Operations whose rules are called under every ``vmap``, even where no operand is mapped: they
look at the axis, its name or its length."""
