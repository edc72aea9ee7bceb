"""``Zero`` and ``UndefinedPrimal``: operands of rules without a value, by JAX's names.

Inside of Dovetail a zero is None, and a linear operand a value of the linear program.
"""

from __future__ import annotations

from typing import Any

import dovetail_core
from dovetail_ad import SymbolicZero
from dovetail_core import AbstractValue, float0, typeof
from dovetail_tree.util import register_pytree_node


class Zero:
    """A tangent or cotangent that is zero: it has a type alone, ``aval``."""

    __slots__ = ("aval",)

    def __init__(self, aval: AbstractValue) -> None:
        self.aval = aval

    @staticmethod
    def from_primal_value(val: Any) -> Zero:
        """The zero tangent of a value."""
        return Zero(typeof(val).tangent_type())

    def instantiate(self) -> Any:
        """The zero as a value."""
        return dovetail_core.zeros_like_aval(self.aval)

    def __repr__(self) -> str:
        return f"Zero({self.aval.str_short()})"


class UndefinedPrimal:
    """An operand in which the operation is linear: it has a type alone, ``aval``."""

    __slots__ = ("aval",)

    def __init__(self, aval: AbstractValue) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"UndefinedPrimal({self.aval.str_short()})"


# Nodes without leaves: what maps a function over leaves passes them by.
register_pytree_node(Zero, lambda z: ((), z.aval), lambda aval, _: Zero(aval))
register_pytree_node(UndefinedPrimal, lambda u: ((), u.aval), lambda aval, _: UndefinedPrimal(aval))


def is_undefined_primal(x: Any) -> bool:
    """True if an operand of a transposition rule is a linear one."""
    return type(x) is UndefinedPrimal


def is_zero(x: Any) -> bool:
    """True if a rule's tangent or cotangent is zero without being computed."""
    return x is None or x is Zero or isinstance(x, (Zero, SymbolicZero))


def instantiate_zeros(tangent: Any) -> Any:
    """A zero as a value; other values as they are."""
    return tangent.instantiate() if isinstance(tangent, (Zero, SymbolicZero)) else tangent


def zeros_like_aval(aval: AbstractValue) -> Any:
    """The zero of a type."""
    return dovetail_core.zeros_like_aval(aval)


def add_jaxvals(x: Any, y: Any) -> Any:
    """The sum of two tangents or cotangents of one type."""
    return dovetail_core.add_tangents(x, y)


def add_tangents(x: Any, y: Any) -> Any:
    """The sum of two tangents, of which each may be a :class:`Zero`."""
    if is_zero(x):
        return y
    return x if is_zero(y) else dovetail_core.add_tangents(x, y)


def engine_tangent(x: Any) -> Any:
    """A rule's tangent as Dovetail's rules say it: None where it is zero."""
    return None if is_zero(x) or getattr(x, "dtype", None) == float0 else x


def author_tangent(x: Any, primal: Any) -> Any:
    """The tangent of a value as JAX's rules get it."""
    return Zero.from_primal_value(primal) if x is None else x
