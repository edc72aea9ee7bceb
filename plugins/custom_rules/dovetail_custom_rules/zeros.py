"""Zeros that rules see: symbolic ones and those of integers; and primals marked as perturbed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail_core import AbstractValue, float0, is_inexact, typeof
from dovetail_core.tree.util import tree_map
from dovetail_core.types.algebra import algebra, zeros


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


@dataclass(frozen=True)
class CustomVJPPrimal:
    """A leaf of a forward rule's arguments under ``symbolic_zeros``.

    Attributes:
        value: the argument. perturbed: whether it is differentiated with respect to.
    """

    value: Any
    perturbed: bool


def custom_vjp_primal_tree_values(tree: Any) -> Any:
    """``tree`` with each :class:`CustomVJPPrimal` replaced by its value.

    Raises:
        TypeError: a leaf is something else.
    """

    def value(leaf: Any) -> Any:
        if not isinstance(leaf, CustomVJPPrimal):
            raise TypeError(
                f"custom_vjp_primal_tree_values takes CustomVJPPrimal leaves, got {leaf!r} of type "
                f"{type(leaf).__name__}. Use it on the arguments of a forward rule that was "
                "defined with symbolic_zeros=True."
            )
        return leaf.value

    return tree_map(value, tree)


def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
    """The zero tangent of ``val``: an array (float0 for integers), or a :class:`SymbolicZero`."""
    return shown_zero(typeof(val).tangent_type(), symbolic_zeros)


def shown_zero(tangent_aval: Any, symbolic: bool) -> Any:
    """A zero of a tangent or cotangent type, as rules see it."""
    if symbolic:
        return SymbolicZero(tangent_aval)
    if getattr(tangent_aval, "dtype", None) == float0:
        return np.zeros(tangent_aval.shape, float0)
    return zeros(tangent_aval)


def is_zero(x: Any) -> bool:
    """Whether a rule returned a zero without a value: None, symbolic, or of dtype float0."""
    return x is None or isinstance(x, SymbolicZero) or getattr(x, "dtype", None) == float0


def has_tangent(aval: AbstractValue) -> bool:
    """Whether values of this type have tangents (integers do not)."""
    return aval.is_high or is_inexact(getattr(aval, "dtype", None))


def arrayed(x: Any) -> Any:
    """A Python or NumPy value as an array, so that rules may use an array's methods."""
    if x.__class__ in _PLAIN or isinstance(x, _NUMPY):
        return algebra().array(x, typeof(x))
    return x


_PLAIN = (bool, int, float, complex)
_NUMPY = (np.generic, np.ndarray)


def typed(x: Any, want: Any) -> Any:
    """``x`` at type ``want``, from which it differs at most in being weakly typed."""
    return x if typeof(x) == want or want.is_high else algebra().convert(x, want)


def split_results(results: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Results and tangents (None for integers) of a pushforward, which stand in turns."""
    outs: list[Any] = []
    tangents: list[Any] = []
    rest = iter(results)
    for out in rest:
        outs.append(out)
        tangents.append(next(rest) if has_tangent(typeof(out)) else None)
    return outs, tangents


def join_results(outs: Sequence[Any], tangents: Sequence[Any], avals: Any) -> list[Any]:
    """Results and tangents in turns, zeros instantiated; ``avals`` are the results' where known."""
    found: list[Any] = []
    for i, (out, t) in enumerate(zip(outs, tangents)):
        found.append(out if avals is None else typed(out, avals[i]))
        aval = typeof(found[-1])
        if has_tangent(aval):
            want = aval.tangent_type()
            found.append(zeros(want) if t is None else typed(t, want))
    return found
