"""Zeros that rules see: symbolic ones and those of integers; and primals marked as perturbed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail_ad import SymbolicZero
from dovetail_core import float0, typeof
from dovetail_core.tree.util import tree_map
from dovetail_core.types.algebra import algebra, zeros


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


def arrayed(x: Any) -> Any:
    """A Python or NumPy value as an array, so that rules may use an array's methods."""
    if x.__class__ in _PLAIN or isinstance(x, _NUMPY):
        return algebra().array(x, typeof(x))
    return x


_PLAIN = (bool, int, float, complex)
_NUMPY = (np.generic, np.ndarray)
