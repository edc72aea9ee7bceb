"""States of optimizers as pytrees like the parameters, for saving and changing them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dovetail_core import here
from dovetail_tree.util import tree_flatten, tree_structure, tree_unflatten

from .state import OptimizerState


class JoinPoint:
    """Marks in an unpacked state where a parameter is; ``subtree`` is that parameter's state."""

    def __init__(self, subtree: Any) -> None:
        self.subtree = subtree

    def __iter__(self) -> Iterator[Any]:
        yield self.subtree


def unpack_optimizer_state(opt_state: OptimizerState) -> Any:
    """A pytree like the parameters, with a :class:`JoinPoint` for each of them."""
    pairs = zip(opt_state.subtree_defs, opt_state.packed_state)
    points = [JoinPoint(tree_unflatten(tree, leaves)) for tree, leaves in pairs]
    return tree_unflatten(opt_state.tree_def, points)


def pack_optimizer_state(marked_pytree: Any) -> OptimizerState:
    """The state from what :func:`unpack_optimizer_state` returned.

    Raises:
        TypeError: a leaf is no :class:`JoinPoint`.
    """
    points, tree = tree_flatten(marked_pytree)
    for point in points:
        if not isinstance(point, JoinPoint):
            raise TypeError(
                f"pack_optimizer_state takes a pytree of JoinPoints, as unpack_optimizer_state "
                f"returns it, got a leaf of type {type(point).__name__}{here()}"
            )
    leaves = tuple(tree_flatten(p.subtree)[0] for p in points)
    return OptimizerState(leaves, tree, tuple(tree_structure(p.subtree) for p in points))
