"""Choosing between values, elementwise."""

from __future__ import annotations

from ..primitives.values import clamp_p, select_n_p
from ..scalars import PYTHON_SCALARS
from ._args import Array, ArrayLike, check, nary, operands


def select(pred: ArrayLike, on_true: ArrayLike, on_false: ArrayLike) -> Array:
    """``on_true`` where ``pred``, else ``on_false``.

    ``pred`` is boolean; all are of one shape, or scalar.
    """
    return select_n(pred, on_false, on_true)


def select_n(which: ArrayLike, *cases: ArrayLike) -> Array:
    """``cases[which]`` for each element; all are of one shape, or scalar.

    Args:
        which: booleans (False chooses the first of at most two cases), or integers.

    Raises:
        ValueError: there is no case.
        TypeError: cases differ in type, or ``which`` has a wrong one.
    """
    if not cases:
        raise ValueError("lax.select_n takes at least one case")
    for case in cases:
        if case.__class__ in PYTHON_SCALARS:
            cases = operands("select_n", cases)
            break
        check("select_n", case)
    check("select_n", which)
    return select_n_p.bind(which, *cases)


def clamp(min: ArrayLike, x: ArrayLike, max: ArrayLike) -> Array:
    """``x``, or the bound that it is beyond; all are of one shape, or scalar."""
    return nary(clamp_p, (min, x, max))
