"""The rule tables of differentiation and the signatures of their rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from dovetail_core import Primitive, RuleTable

Rule = Callable[..., Any]
"""A rule of any of these tables, with the signature that the table gives; its keyword arguments are
the parameters of its primitive."""


class JvpRule(Protocol):
    """Value and tangent of one operation.

    ``rule(primals, tangents, **params)`` returns ``(primal_out, tangent_out)``, lists where the
    primitive has multiple results. A tangent is None where it is symbolically zero (at least one
    is not), and the rule may return None for a tangent. Each tangent has the tangent type of its
    primal.
    """

    def __call__(
        self, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
    ) -> tuple[Any, Any]: ...


class TransposeRule(Protocol):
    """Transpose of an operation that is linear in some of its operands.

    ``rule(cotangent, *args, **params)`` returns one cotangent per argument, None for arguments
    that are not linear or whose cotangent is zero. Linear operands are ``LinearInput`` objects
    (``is_linear(x)``), which have a type, ``x.aval``, and no value. ``cotangent`` is one value, or
    a list with None for zeros where the primitive has multiple results.
    """

    def __call__(self, cotangent: Any, *args: Any, **params: Any) -> Sequence[Any]: ...


class PartialEvalRule(Protocol):
    """Split an operation some of whose operands are linear unknowns.

    ``rule(trace, args, params)`` computes the known part under the parent trace, and records the
    linear part in ``trace`` (a ``LinearTrace``): see ``dovetail_ad.linear``.
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


ForwardRule = Callable[[Any, Sequence[Any], dict[str, Any]], Any]
"""``rule(carrier, lifted_args, params)``, as ``LiftTrace`` calls it."""


def via_jvp(
    primitive: Primitive, rule: Callable[[Any, Callable[..., Any], Sequence[Any]], Any]
) -> ForwardRule | None:
    """The rule of a forward-style table for a primitive that has an explicit ``ad.jvp`` rule.

    A table's deriver calls this before it derives a rule from the primitive's decomposition or
    regions. Otherwise the derivative that an author wrote, because it is stable or fast or the only
    one, would be ignored::

        @taylor_rules.deriver
        def _derive(primitive):
            return via_jvp(primitive, by_derivatives) or derive(primitive)

    Args:
        rule: ``rule(carrier, f, lifted_args)`` makes the lifted result (a list where the primitive
            has multiple results) with ``f``, the operation as a function of plain operands. ``jvp``
            of ``f``, at every order, uses the author's rule. The primitive's traits state in which
            operands it is linear.

    Returns: the rule; None if no ``ad.jvp`` rule is written for the primitive.
    """
    if not jvp_rules.declares(primitive):
        return None

    def forward(carrier: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
        return rule(carrier, lambda *xs: primitive.bind(*xs, **params), args)

    return forward
