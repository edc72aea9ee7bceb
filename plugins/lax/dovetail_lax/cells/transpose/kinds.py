"""Makers of transposition rules, by kind of operation, and the sums that scalar operands need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_ad import is_linear, transpose_rules
from dovetail_core import MissingRule, Primitive, current_source, describe_source

from ...primitives.arithmetic import neg_p


def unary(primitive: Primitive, transposed: Callable[..., Any]) -> None:
    """Fill the cell of an operation linear in its operand: ``transposed(ct, x, **params)``."""

    def rule(ct: Any, x: Any, **params: Any) -> list[Any]:
        return [transposed(ct, x, **params)]

    transpose_rules.set(primitive, rule)


def known(name: str, operand: int, x: Any) -> None:
    """Raise unless ``x``, an operand of ``name`` by its number, is known.

    Raises:
        MissingRule: it depends on what is transposed, so that the function is not linear.
    """
    if is_linear(x):
        raise MissingRule(
            f"{name} is not linear in operand {operand} beside the others"
            f"{describe_source(current_source())}, so that the function that is being transposed "
            "is not linear. Transpose its derivative (see linearize) instead."
        )


def unbroadcast(ct: Any, operand: Any) -> Any:
    """A cotangent of the result's shape, for an operand that may have been a scalar beside it."""
    shape = operand.aval.shape
    if ct.shape == shape:
        return ct
    from ...primitives.reductions import reduce_sum_p

    axes = tuple(range(len(ct.shape)))
    return reduce_sum_p.bind(ct, axes=axes)


def add(ct: Any, x: Any, y: Any) -> list[Any]:
    """The rule of a sum."""
    return [
        unbroadcast(ct, x) if is_linear(x) else None,
        unbroadcast(ct, y) if is_linear(y) else None,
    ]


def sub(ct: Any, x: Any, y: Any) -> list[Any]:
    """The rule of a difference."""
    return [
        unbroadcast(ct, x) if is_linear(x) else None,
        neg_p.bind(unbroadcast(ct, y)) if is_linear(y) else None,
    ]
