"""The symbolic zero: a tangent or cotangent for which nothing is computed, as authors see it.

Inside of the engine None stands for it.
"""

from __future__ import annotations

from typing import Any

from dovetail_core import AbstractValue, float0, typeof
from dovetail_core.types.algebra import zeros


class SymbolicZero:
    """A tangent or cotangent that is zero, without an array: it has only a type, ``aval``."""

    __slots__ = ("aval",)

    def __init__(self, aval: AbstractValue) -> None:
        self.aval = aval

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the zero."""
        return self.aval.shape  # type: ignore[attr-defined]

    @property
    def dtype(self) -> Any:
        """The element type of the zero."""
        return self.aval.dtype  # type: ignore[attr-defined]

    def instantiate(self) -> Any:
        """The zero as a value."""
        return zeros(self.aval)

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval.str_short()})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymbolicZero) and self.aval == other.aval

    def __hash__(self) -> int:
        return hash((SymbolicZero, self.aval))

    @staticmethod
    def from_primal_value(val: Any) -> SymbolicZero:
        """The zero tangent of ``val``."""
        return SymbolicZero(typeof(val).tangent_type())


def instantiate_zeros(tangent: Any) -> Any:
    """A symbolic zero as a value; other values as they are."""
    return tangent.instantiate() if tangent.__class__ is SymbolicZero else tangent


def transposed_type(aval: AbstractValue) -> AbstractValue:
    """The type of the cotangents of a linear unknown.

    Integers have no derivatives, but a linear function of them is transposed as one of any numbers.
    """
    result = aval.cotangent_type()
    return aval.strong() if getattr(result, "dtype", None) == float0 else result
