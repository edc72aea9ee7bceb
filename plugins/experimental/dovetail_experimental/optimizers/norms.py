"""The length of gradients."""

from __future__ import annotations

from typing import Any

import dovetail_numpy as dnp
from dovetail_tree.util import tree_leaves, tree_map


def l2_norm(tree: Any) -> Any:
    """The Euclidean norm of all elements of a pytree."""
    return dnp.sqrt(sum(dnp.vdot(x, x) for x in tree_leaves(tree)))


def clip_grads(grad_tree: Any, max_norm: Any) -> Any:
    """``grad_tree``, scaled down to the norm ``max_norm`` if it is longer."""
    norm = l2_norm(grad_tree)
    return tree_map(lambda g: dnp.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree)
