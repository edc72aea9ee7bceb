"""Rules of other forward-style tables that follow from the rules of ``ad.jvp``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import Primitive

from .tables import jvp_rules

ForwardRule = Callable[[Any, Sequence[Any], dict[str, Any]], Any]
"""``rule(carrier, lifted_args, params)``, as ``LiftTrace`` calls it."""


def via_jvp(
    primitive: Primitive, rule: Callable[[Any, Callable[..., Any], Sequence[Any]], Any]
) -> ForwardRule | None:
    """The rule of a forward-style table for an operation whose derivative somebody wrote.

    For a table's deriver, before it looks at what the operation is made of: else the derivative
    that an author wrote, because it is stable or quick or the only one, would be lost::

        @taylor_rules.deriver
        def _derive(primitive):
            return via_jvp(primitive, by_derivatives) or derive(primitive)

    Args:
        rule: ``rule(carrier, f, lifted_args)`` makes the lifted result (a list where the primitive
            has multiple results) with ``f``, the operation as a function of plain operands. What
            ``jvp`` says of ``f``, at every order, is what the author wrote. The primitive's traits
            say in which operands it is linear.

    Returns: the rule; None where nobody wrote a rule of ``ad.jvp`` for the primitive.
    """
    if not jvp_rules.declares(primitive):
        return None

    def forward(carrier: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
        return rule(carrier, lambda *xs: primitive.bind(*xs, **params), args)

    return forward
