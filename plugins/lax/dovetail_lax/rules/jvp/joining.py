"""Derivatives of what joins and divides arrays: it is linear in all operands together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules
from dovetail_core import Primitive, typeof
from dovetail_core.types.algebra import zeros

from ...primitives.joining import concatenate_p, pad_p, split_p, stack_p, tile_p, unstack_p
from .kinds import linear


def filled(primal: Any, tangent: Any) -> Any:
    """The tangent of ``primal``, as an array also where it is zero."""
    return zeros(typeof(primal).tangent_type()) if tangent is None else tangent


def _jointly_linear(primitive: Primitive) -> None:
    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        dense = [filled(p, t) for p, t in zip(primals, tangents)]
        return primitive.bind(*primals, **params), primitive.bind(*dense, **params)

    jvp_rules.set(primitive, rule)


for _primitive in (concatenate_p, pad_p, stack_p):
    _jointly_linear(_primitive)
for _primitive in (split_p, unstack_p, tile_p):
    linear(_primitive)
