"""Makers of differentiation rules, by kind of operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_ad import jvp_rules
from dovetail_core import Primitive

from ...primitives.arithmetic import add_p
from ...primitives.shape import broadcast_in_dim_p

Partial = Callable[..., Any]
"""``partial(tangent, answer, *primals, **params)``: what one operand's tangent contributes."""


def unary(primitive: Primitive, derivative: Partial) -> None:
    """Add the rule of an operation of one operand: ``derivative(tangent, answer, x)``."""

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        (x,) = primals
        answer = primitive.bind(x, **params)
        return answer, derivative(tangents[0], answer, x)

    jvp_rules.set(primitive, rule)


def nary(primitive: Primitive, *partials: Partial | None) -> None:
    """Add the rule of an operation by its partial derivatives; None where there is none."""

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        answer = primitive.bind(*primals, **params)
        total = None
        for tangent, partial in zip(tangents, partials):
            if tangent is not None and partial is not None:
                part = partial(tangent, answer, *primals, **params)
                total = part if total is None else add_p.bind(total, part)
        return answer, None if total is None else fit(total, answer)

    jvp_rules.set(primitive, rule)


def linear(primitive: Primitive) -> None:
    """Add the rule of an operation that is linear in its only operand."""

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        return primitive.bind(primals[0], **params), primitive.bind(tangents[0], **params)

    jvp_rules.set(primitive, rule)


def zero(primitive: Primitive) -> None:
    """Add the rule of an operation whose derivative is zero wherever it exists."""

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        out = primitive.bind(*primals, **params)
        return out, [None] * len(out) if primitive.multiple_results else None

    jvp_rules.set(primitive, rule)


def fit(tangent: Any, answer: Any) -> Any:
    """A tangent in the shape of its primal: that of a scalar operand is broadcast."""
    shape = answer.shape
    if tangent.shape == shape:
        return tangent
    return broadcast_in_dim_p.bind(tangent, shape=shape, broadcast_dimensions=())
