"""The tables of differentiation: what a rule of each looks like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dovetail_core import RuleTable

Rule = Callable[..., Any]
"""A rule of any of these tables. What it takes and returns its table's ``signature`` says; its
parameters are those of its primitive."""


class JvpRule(Protocol):
    """Value and tangent of one operation.

    ``rule(primals, tangents, **params)`` returns ``(primal_out, tangent_out)``, lists where the
    primitive has multiple results. A tangent is None where it is symbolically zero (at least one
    is not), and the rule may return None for a tangent. Tangents have the primal's tangent type.
    """

    def __call__(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]: ...


class TransposeRule(Protocol):
    """Transpose of an operation that is linear in some of its operands.

    ``rule(cotangent, *args, **params)`` returns one cotangent per argument, None for those that
    are not linear or get none. Linear operands come as ``LinearInput`` (``is_linear(x)``; they
    have a type, ``x.aval``, and no value). ``cotangent`` is one value, or a list with None for
    zeros where the primitive has multiple results.
    """

    def __call__(self, cotangent: Any, *args: Any, **params: Any) -> Sequence[Any]: ...


class PartialEvalRule(Protocol):
    """Split an operation some of whose operands are linear unknowns.

    ``rule(trace, args, params)`` computes under the parent trace what is known, and records the
    rest in ``trace`` (a ``LinearTrace``): see ``dovetail_ad.linear``.
    """

    def __call__(self, trace: Any, args: Sequence[Any], params: dict[str, Any]) -> Any: ...


jvp_rules: RuleTable[Rule] = RuleTable("ad.jvp", signature=JvpRule, law="jvp")
transpose_rules: RuleTable[Rule] = RuleTable(
    "ad.transpose",
    signature=TransposeRule,
    law="transpose",
    empty="well where no rule of ad.jvp applies the primitive to a tangent; else an error says so",
)
partial_eval_rules: RuleTable[Rule] = RuleTable(
    "ad.partial_eval",
    signature=PartialEvalRule,
    law="partial_eval",
    empty="the operation is recorded whole",
)
