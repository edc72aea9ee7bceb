"""Layouts: the order of the elements of arrays in memory."""

from __future__ import annotations

from typing import Any

from dovetail_core import here, typeof
from dovetail_jit import Format as Format, Layout as Layout
from dovetail_tree.util import tree_flatten, tree_unflatten

from .primitives import layout_constraint_p

__all__ = ["Format", "Layout", "with_layout_constraint"]


def with_layout_constraint(x: Any, layouts: Any) -> Any:
    """``x``, whose arrays lie in memory as ``layouts`` say, within compiled programs.

    Elements stay the same. So do derivatives and mapped functions, in which a mapped axis is the
    slowest. At the end of a program results have the usual layout again, the last axis fastest.

    Args:
        x: a pytree of arrays.
        layouts: a :class:`Layout` for all, or a pytree of them like ``x``.

    Raises:
        ValueError: a layout does not list the axes of its array, or structures differ.
        TypeError: something else is given than a layout.
    """
    leaves, structure = tree_flatten(x)
    wanted, result = tree_flatten(layouts, is_leaf=lambda v: isinstance(v, Layout))
    if isinstance(layouts, Layout):
        wanted = [layouts] * len(leaves)
    elif result != structure:
        raise ValueError(
            f"with_layout_constraint{here()}: layouts have the structure {result}, and x "
            f"{structure}; give one layout, or one for each array of x."
        )
    outs = [_constrained(a, layout) for a, layout in zip(leaves, wanted)]
    return tree_unflatten(structure, outs)


def _constrained(x: Any, layout: Any) -> Any:
    if not isinstance(layout, Layout):
        raise TypeError(
            f"with_layout_constraint{here()}: a layout is of type {type(layout).__name__}; give "
            "Layout(major_to_minor=(0, 1))."
        )
    aval: Any = typeof(x)
    order = tuple(layout.major_to_minor)
    if sorted(order) != list(range(aval.ndim)):
        raise ValueError(
            f"with_layout_constraint{here()}: major_to_minor is {order}, and the array has type "
            f"{aval.str_short()}; list each of its {aval.ndim} axes once, the slowest first."
        )
    return layout_constraint_p.bind(x, major_to_minor=order)
