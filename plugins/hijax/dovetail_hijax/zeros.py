"""Symbolic zeros, as rules of high primitives see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dovetail_ad import is_linear
from dovetail_core import AbstractValue, float0, typeof
from dovetail_core.algebra import zeros

is_undefined_primal = is_linear
"""JAX's name for it: of its operands, a rule of transposition gets the linear ones unknown."""


class Zero(NamedTuple):
    """A tangent or cotangent of type ``aval`` that is zero, and for which nothing is computed."""

    aval: AbstractValue

    def instantiate(self) -> Any:
        """The zero as a value."""
        return zeros(self.aval)


def instantiate_zeros(tangent: Any) -> Any:
    """A symbolic zero as a value; other values as they are."""
    return tangent.instantiate() if tangent.__class__ is Zero else tangent


def symbolic(primals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
    """Tangents as rules see them: ``Zero`` in place of None."""
    return [Zero(typeof(p).tangent_type()) if t is None else t for p, t in zip(primals, tangents)]


def plain(tangent: Any) -> Any:
    """A rule's result as tables have it: None in place of a symbolic zero, and of a tangent that
    holds nothing (one part of a value may be made of integers)."""
    if tangent is None or tangent.__class__ is Zero:
        return None
    aval: Any = typeof(tangent)
    return None if not aval.is_high and aval.dtype == float0 else tangent


def differentiable(aval: AbstractValue) -> bool:
    """Whether values of a type have tangents that hold something."""
    tangent = aval.tangent_type()
    return tangent.is_high or tangent.dtype != float0  # type: ignore[attr-defined]
